#include "models/piper/spline.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace mynah::piper {

namespace {

// A bin's least width and height, of the whole, and the least derivative (VITS transforms.py).
constexpr double kLeast = 1e-3;

// Bins' borders over [-kSplineReach, kSplineReach].
std::vector<double> borders_of(std::span<const float> sizes) {
  const double largest = static_cast<double>(*std::ranges::max_element(sizes));
  double sum = 0.0;
  for (const float size : sizes) {
    sum += std::exp(static_cast<double>(size) - largest);
  }
  const double rest = 1.0 - kLeast * static_cast<double>(sizes.size());
  std::vector<double> borders{-kSplineReach};
  double reached = 0.0;
  for (const float size : sizes) {
    reached += kLeast + rest * std::exp(static_cast<double>(size) - largest) / sum;
    borders.push_back(2.0 * kSplineReach * reached - kSplineReach);
  }
  borders.back() = kSplineReach;
  return borders;
}

double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

}  // namespace

double inverse_spline(double y, std::span<const float> widths, std::span<const float> heights,
                      std::span<const float> derivatives) {
  // A NaN stays one, too.
  if (!(y >= -kSplineReach && y <= kSplineReach)) {
    return y;
  }
  const std::vector<double> xs = borders_of(widths);
  const std::vector<double> ys = borders_of(heights);
  const auto above = std::upper_bound(ys.begin() + 1, ys.end() - 1, y);
  const auto bin = static_cast<size_t>(above - ys.begin()) - 1;
  const auto derivative = [&](size_t border) {
    return border == 0 || border == derivatives.size() + 1
               ? 1.0
               : kLeast + softplus(static_cast<double>(derivatives[border - 1]));
  };
  const double width = xs[bin + 1] - xs[bin];
  const double height = ys[bin + 1] - ys[bin];
  const double slope = height / width;
  const double first = derivative(bin);
  const double last = derivative(bin + 1);
  // Equations 6 to 8: a root of a quadratic in the place within the bin.
  const double rise = y - ys[bin];
  const double bend = first + last - 2.0 * slope;
  const double a = height * (slope - first) + rise * bend;
  const double b = height * first - rise * bend;
  const double c = -slope * rise;
  const double root = 2.0 * c / (-b - std::sqrt(std::max(0.0, b * b - 4.0 * a * c)));
  return xs[bin] + root * width;
}

}  // namespace mynah::piper
