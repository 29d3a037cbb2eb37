#include "audio/echo/played_sound.h"

#include <algorithm>
#include <cmath>

namespace mynah::echo {

PlayedSound::PlayedSound(int rate_hz, double ratio, double seconds)
    : reader_(ratio, 1),
      ring_(static_cast<size_t>(std::ceil(rate_hz * seconds)) +
            2 * static_cast<size_t>(reader_.reach())) {}

void PlayedSound::push(std::span<const float> samples) {
  for (const float sample : samples) {
    ring_[static_cast<size_t>(written_) % ring_.size()] = sample;
    ++written_;
  }
}

float PlayedSound::at(double position) const {
  const SincReader::Taps taps = reader_.taps(position);
  const auto size = static_cast<int64_t>(ring_.size());
  const auto count = static_cast<int64_t>(taps.lower.size());
  if (taps.first + count <= 0 || taps.first >= written_ || taps.first < written_ - size) {
    return 0;
  }
  float lower = 0;
  float upper = 0;
  const int64_t begin = std::max<int64_t>(0, -taps.first);
  const int64_t end = std::min(count, written_ - taps.first);
  int64_t from = (taps.first + begin) % size;
  for (int64_t tap = begin; tap < end; ++tap) {
    const float sample = ring_[static_cast<size_t>(from)];
    lower += taps.lower[static_cast<size_t>(tap)] * sample;
    upper += taps.upper[static_cast<size_t>(tap)] * sample;
    from = from + 1 == size ? 0 : from + 1;
  }
  return lower + taps.part * (upper - lower);
}

}  // namespace mynah::echo
