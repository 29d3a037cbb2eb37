#include "audio/device/sinc_reader.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace mynah {
namespace {

// Of the kernel a sample; between them it is a straight line: -100 dB beside the exact one.
constexpr int kSteps = 256;
// Of half the lower rate: what the window's slope needs.
constexpr double kPassed = 0.95;

}  // namespace

SincReader::SincReader(double in_hz, double out_hz)
    : cutoff_(kPassed * std::min(1.0, out_hz / in_hz)),
      reach_(static_cast<int>(std::ceil(kZeros / cutoff_))) {
  for (int i = 0; i <= reach_ * kSteps + 1; ++i) {
    const double distance = static_cast<double>(i) / kSteps;
    const double angle = std::numbers::pi * cutoff_ * distance;
    const double window = 0.5 + 0.5 * std::cos(std::numbers::pi * std::min(1.0, distance / reach_));
    kernel_.push_back(cutoff_ * window * (i == 0 ? 1.0 : std::sin(angle) / angle));
  }
}

void SincReader::read(double first, double step, const std::function<float(int64_t)>& at,
                      std::span<float> out) const {
  for (size_t n = 0; n < out.size(); ++n) {
    const double position = first + step * static_cast<double>(n);
    const auto middle = static_cast<int64_t>(std::floor(position));
    double sum = 0;
    for (int64_t i = middle - reach_ + 1; i <= middle + reach_; ++i) {
      const double place = std::abs(position - static_cast<double>(i)) * kSteps;
      const auto low = static_cast<size_t>(place);
      const double part = place - static_cast<double>(low);
      sum += at(i) * (kernel_[low] + part * (kernel_[low + 1] - kernel_[low]));
    }
    out[n] = static_cast<float>(sum);
  }
}

}  // namespace mynah
