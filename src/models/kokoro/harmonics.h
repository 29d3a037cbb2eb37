// What the generator's voice is made of: sines at the pitch and its harmonics, and their short-time
// Fourier transform; and the transform back (yl4579/StyleTTS2 Modules/istftnet.py: SineGen,
// SourceModuleHnNSF, TorchSTFT). On the host.
#pragma once

#include <array>
#include <span>
#include <vector>

namespace mynah::kokoro {

inline constexpr int kHarmonics = 9;  // the pitch itself and eight above
inline constexpr int kFft = 20;
inline constexpr int kHop = 5;
inline constexpr int kBins = kFft / 2 + 1;

// How harmonics are mixed.
struct HarmonicMix {
  std::array<float, kHarmonics> weights{};
  float bias = 0.0F;
};

// Samples between -1 and 1, kPitchSamples for each value of pitch (Hz); no noise and all phases
// zero at the start, as Kokoro's ONNX exports have it.
[[nodiscard]] std::vector<float> harmonic_source(std::span<const float> pitch,
                                                 const HarmonicMix& mix);

// (frames, 2 kBins): magnitudes, then phases, of frames every kHop samples, each centred on its
// first; the signal is reflected at its ends. samples / kHop + 1 frames.
[[nodiscard]] std::vector<float> magnitudes_and_phases(std::span<const float> samples);

// The signal of a spectrogram (frames, kBins) of magnitudes and one of phases: (frames - 1) * kHop
// samples. By overlap and addition, divided by the windows' squares.
[[nodiscard]] std::vector<float> samples_of(std::span<const float> magnitudes,
                                            std::span<const float> phases);

}  // namespace mynah::kokoro
