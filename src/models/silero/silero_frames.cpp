#include "models/silero/silero_frames.h"

#include <algorithm>

#include "base/check.h"

namespace mynah {

std::optional<SileroGeometry> SileroGeometry::at_rate(int rate_hz) {
  switch (rate_hz) {
    case 16000:
      return SileroGeometry{.rate_hz = 16000, .frame = 512, .context = 64, .n_fft = 256};
    case 8000:
      return SileroGeometry{.rate_hz = 8000, .frame = 256, .context = 32, .n_fft = 128};
    default:
      return std::nullopt;
  }
}

void cut_silero_columns(std::span<const float> window, const SileroGeometry& geometry,
                        std::span<float> out) {
  const int64_t length = geometry.window();
  const int64_t n_fft = geometry.n_fft;
  MYNAH_CHECK(static_cast<int64_t>(window.size()) == length &&
              static_cast<int64_t>(out.size()) == kSileroColumns * n_fft);
  for (int64_t column = 0; column < kSileroColumns; ++column) {
    const int64_t first = column * n_fft / 2;
    const int64_t count = std::min(n_fft, length - first);
    float* to = std::ranges::copy_n(window.data() + first, count, out.data() + column * n_fft).out;
    std::reverse_copy(window.data() + length - 1 - (n_fft - count), window.data() + length - 1, to);
  }
}

}  // namespace mynah
