// Piper's arithmetic on the host: splines.
#include <cmath>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "models/piper/spline.h"

namespace mynah::piper {
namespace {

// With equal bins and derivatives of 1 at every border a spline is the identity: softplus(x) is
// 1 - 0.001 there.
TEST(PiperSpline, OfEqualBinsChangesNothing) {
  const std::vector<float> equal(10, 0.3F);
  const std::vector<float> derivatives(9, static_cast<float>(std::log(std::exp(1.0 - 1e-3) - 1.0)));
  for (const double y : {-5.0, -4.99, -1.0, 0.0, 0.123, 2.5, 5.0, 7.0, -20.0}) {
    EXPECT_NEAR(inverse_spline(y, equal, equal, derivatives), y, 1e-6) << y;
  }
}

// The spline itself as the paper's equation 4 has it, for going there and back.
double spline(double x, const std::vector<float>& widths, const std::vector<float>& heights,
              const std::vector<float>& derivatives) {
  const auto borders = [](const std::vector<float>& sizes) {
    double sum = 0.0;
    for (const float size : sizes) {
      sum += std::exp(static_cast<double>(size));
    }
    std::vector<double> at{-5.0};
    for (const float size : sizes) {
      const double share = 1e-3 + (1.0 - 1e-3 * static_cast<double>(sizes.size())) *
                                      std::exp(static_cast<double>(size)) / sum;
      at.push_back(at.back() + 10.0 * share);
    }
    return at;
  };
  const std::vector<double> xs = borders(widths);
  const std::vector<double> ys = borders(heights);
  size_t bin = 0;
  while (bin + 2 < xs.size() && x >= xs[bin + 1]) {
    ++bin;
  }
  const auto derivative = [&](size_t border) {
    return border == 0 || border + 1 == xs.size()
               ? 1.0
               : 1e-3 + std::log1p(std::exp(static_cast<double>(derivatives[border - 1])));
  };
  const double slope = (ys[bin + 1] - ys[bin]) / (xs[bin + 1] - xs[bin]);
  const double place = (x - xs[bin]) / (xs[bin + 1] - xs[bin]);
  const double between = place * (1.0 - place);
  return ys[bin] + (ys[bin + 1] - ys[bin]) * (slope * place * place + derivative(bin) * between) /
                       (slope + (derivative(bin) + derivative(bin + 1) - 2.0 * slope) * between);
}

TEST(PiperSpline, IsTheWayBack) {
  const std::vector<float> widths = {0.1F, -2.0F, 1.5F, 0.0F, 3.0F};
  const std::vector<float> heights = {-1.0F, 0.5F, 0.2F, 2.0F, -3.0F};
  const std::vector<float> derivatives = {0.4F, -3.0F, 2.0F, -0.5F};
  for (int i = 0; i <= 1000; ++i) {
    const double x = -5.0 + 0.01 * i;
    EXPECT_NEAR(
        inverse_spline(spline(x, widths, heights, derivatives), widths, heights, derivatives), x,
        1e-6)
        << x;
  }
}

TEST(PiperSpline, LeavesWhatIsNoNumber) {
  const std::vector<float> equal(3, 0.0F);
  const std::vector<float> derivatives(2, 0.0F);
  EXPECT_TRUE(std::isnan(inverse_spline(std::nan(""), equal, equal, derivatives)));
}

}  // namespace
}  // namespace mynah::piper
