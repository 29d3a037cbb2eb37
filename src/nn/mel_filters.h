// The mel filter bank that Whisper was trained with.
#pragma once

#include <cstdint>
#include <vector>

namespace mynah {

inline constexpr int64_t kMelRate_hz = 16000;
inline constexpr int64_t kMelFft = 400;  // 25 ms
inline constexpr int64_t kMelHop = 160;  // samples a mel frame: 10 ms
inline constexpr int64_t kMelFramesPerSecond = kMelRate_hz / kMelHop;

// Triangular filters (n_mels, kMelFft / 2 + 1), row-major, evenly spaced on Slaney's mel scale
// from 0 to 8 kHz and of equal area: librosa.filters.mel(sr=16000, n_fft=400, n_mels=n_mels), which
// openai/whisper ships as assets/mel_filters.npz.
[[nodiscard]] std::vector<float> mel_filters(int64_t n_mels);

}  // namespace mynah
