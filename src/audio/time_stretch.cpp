#include "audio/time_stretch.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>

#include <sonic.h>

#include "base/check.h"

namespace mynah {
namespace {

struct Destroy {
  void operator()(sonicStreamStruct* stream) const { sonicDestroyStream(stream); }
};

// Libsonic computes in 16 bits: what it is given is brought near to full scale, so that quiet
// speech loses nothing, and back behind it.
constexpr float kInnerPeak = 0.9F;

}  // namespace

std::vector<float> stretch_time(std::span<const float> samples, int rate_hz, double speed) {
  MYNAH_CHECK(speed > 0 && rate_hz > 0, "[time_stretch] wants a speed and a rate above 0");
  std::vector<float> scaled(samples.begin(), samples.end());
  float peak = 0;
  for (const float sample : samples) {
    peak = std::max(peak, std::abs(sample));
  }
  const auto wanted = static_cast<size_t>(std::lround(static_cast<double>(samples.size()) / speed));
  if (speed == 1.0) {
    return scaled;
  }
  if (peak == 0.0F) {
    return std::vector<float>(wanted);
  }
  const float gain = kInnerPeak / peak;
  for (float& sample : scaled) {
    sample *= gain;
  }
  const std::unique_ptr<sonicStreamStruct, Destroy> stream(sonicCreateStream(rate_hz, 1));
  MYNAH_CHECK(stream != nullptr, "[time_stretch] no memory for libsonic");
  sonicSetSpeed(stream.get(), static_cast<float>(speed));
  MYNAH_CHECK(
      sonicWriteFloatToStream(stream.get(), scaled.data(), static_cast<int>(scaled.size())) == 1 &&
          sonicFlushStream(stream.get()) == 1,
      "[time_stretch] no memory for libsonic");
  std::vector<float> stretched(static_cast<size_t>(sonicSamplesAvailable(stream.get())));
  const int got =
      sonicReadFloatFromStream(stream.get(), stretched.data(), static_cast<int>(stretched.size()));
  stretched.resize(static_cast<size_t>(std::max(0, got)));
  // To the sample: whoever counts on times must not find them drift from clause to clause.
  stretched.resize(wanted);
  for (float& sample : stretched) {
    sample /= gain;
  }
  return stretched;
}

}  // namespace mynah
