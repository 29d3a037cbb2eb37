// From Hibari's spectra to samples: a pulse train of the pitch, filtered; shaped noise; and what
// has phases of its own; then one inverse transform (hibari-tts 0.2.1, dsp.py).
#pragma once

#include <span>
#include <vector>

#include "nn/normal_noise.h"
#include "tensor/backend.h"

namespace mynah::hibari {

inline constexpr int kRate = 24000;            // samples a second
inline constexpr size_t kHop = 300;            // samples from one frame to the next: 1/80 s
inline constexpr size_t kPartsOfSpectrum = 5;  // numbers a frame and bin, in the order below

// Every harmonic below 11 kHz at the same strength, (f0.size() * kHop) samples; silence where the
// pitch is below 40 Hz. f0 in Hz, one a frame.
[[nodiscard]] std::vector<float> pulse_train(std::span<const float> f0);

// spectra has for each frame kPartsOfSpectrum times kBins numbers: logarithms of the harmonics'
// magnitudes, their turns (pi tanh of it), logarithms of the noise's, of the rest's, and the rest's
// phases. Noise as loud as `noise_scale` says; 1 is the voice's own. -> f0.size() * kHop samples.
// On the host, shared out to the backend's parts, with the same bits for any number of them.
[[nodiscard]] std::vector<float> synthesise(Backend& backend, std::span<const float> spectra,
                                            std::span<const float> f0, NormalNoise& noise,
                                            float noise_scale);

}  // namespace mynah::hibari
