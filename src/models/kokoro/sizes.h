// Kokoro-82M's sizes (config.json of hexgrad/Kokoro-82M).
#pragma once

#include <cstdint>

#include "nn/weights.h"

namespace mynah::kokoro {

inline constexpr int64_t kVocabulary = 178;
inline constexpr int64_t kStyle = 128;         // of a style: acoustic or prosodic
inline constexpr int64_t kMostPhonemes = 510;  // of a sentence, without the pauses around it
inline constexpr int kRate = 24000;            // samples a second
inline constexpr int64_t kFrameSamples = 600;  // of a phoneme's frame: 1/40 s
inline constexpr int64_t kPitchSamples = 300;  // of a value of pitch and energy: two a frame

// The widths of a checkpoint's layers, Kokoro-82M's where nothing else is said. Kernels, strides,
// dilations, heads and how many layers there are belong to the architecture and have no place here.
struct Sizes {
  int64_t style = kStyle;
  int64_t hidden = 512;     // of the text's encoders
  int64_t embedding = 128;  // of Albert, of a phoneme
  int64_t width = 768;      // of Albert
  int64_t inner = 2048;     // of Albert's feed-forward layer
  int64_t decoder = 1024;
  int64_t seen = 64;        // what of the text each block of the decoder sees again
  int64_t generator = 512;  // of the generator's input; half as wide after each of two stages
};

// As the shapes of a few tensors tell them; that all others fit is for those to check who load
// them. w holds the checkpoint's modules. InvalidInput where such a tensor is missing or its size
// is none that the architecture can have.
[[nodiscard]] Result<Sizes> read_sizes(const Weights& w);

}  // namespace mynah::kokoro
