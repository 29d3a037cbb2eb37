#include "models/silero/silero_frames.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace mynah {

namespace {

constexpr int64_t kLargestPaddedWindow = 64 + 512 + 64;

}  // namespace

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

void fold_silero_columns(std::span<const float> window, const SileroGeometry& geometry,
                         std::span<float> out) {
  const int64_t length = geometry.window();
  const int64_t n_fft = geometry.n_fft;
  const int64_t half = n_fft / 2;
  MYNAH_CHECK(static_cast<int64_t>(window.size()) == length &&
              static_cast<int64_t>(out.size()) == kSileroColumns * n_fft);
  std::array<float, kLargestPaddedWindow> padded;
  std::ranges::copy(window, padded.begin());
  for (int64_t i = 0; i < n_fft / 4; ++i) {
    padded[static_cast<size_t>(length + i)] = window[static_cast<size_t>(length - 2 - i)];
  }
  for (int64_t column = 0; column < kSileroColumns; ++column) {
    const float* x = padded.data() + column * half;
    float* even = out.data() + column * n_fft;
    float* odd = even + half;
    for (int64_t n = 1; n < half; ++n) {
      even[n - 1] = x[n] + x[n_fft - n];
      odd[n - 1] = x[n] - x[n_fft - n];
    }
    even[half - 1] = x[half];
    odd[half - 1] = 0;
  }
}

}  // namespace mynah
