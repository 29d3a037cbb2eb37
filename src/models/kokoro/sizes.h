// Kokoro-82M's sizes (config.json of hexgrad/Kokoro-82M).
#pragma once

#include <cstdint>

namespace mynah::kokoro {

inline constexpr int64_t kVocabulary = 178;
inline constexpr int64_t kStyle = 128;         // of a style: acoustic or prosodic
inline constexpr int64_t kHidden = 512;        // of the text's encoders
inline constexpr int64_t kMostPhonemes = 510;  // of a sentence, without the pauses around it
inline constexpr int kRate = 24000;            // samples a second
inline constexpr int64_t kFrameSamples = 600;  // of a phoneme's frame: 1/40 s
inline constexpr int64_t kPitchSamples = 300;  // of a value of pitch and energy: two a frame

}  // namespace mynah::kokoro
