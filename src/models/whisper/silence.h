// SilenceCache: what Whisper computes for 30 seconds of silence, once, so that short audio costs
// short time (docs/architecture.md, "cached silence").
#pragma once

#include <cstdint>
#include <vector>

#include "nn/audio_encoder.h"

namespace mynah::whisper {

// Positions of silence that the encoder looks at as one, by the mean of their keys and of their
// values. Neighbouring positions of silence are nearly equal to it: in float32, greedy, 224 word
// errors on the 96 clips of shared/speech, as with single positions. The decoder, which finds the
// end of speech by them, sees each (in int8, four together: 236 errors instead of 221).
inline constexpr int64_t kSilenceGroup = 10;

// Keys and values of a whole window of silence. An utterance of n positions, a multiple of the
// group, sees positions [n, n_audio_ctx) of these as if the silence after it had been computed with
// it.
struct SilenceCache {
  std::vector<KeysValues> encoder;  // of each encoder layer's self-attention, in groups
  std::vector<KeysValues> decoder;  // of each decoder layer's cross-attention to encoded silence
  int64_t encoder_group = 1;
};

// What the encoder is handed with utterances that silence follows; nothing where it is null.
[[nodiscard]] inline AudioTail encoder_tail(const SilenceCache* silence) {
  if (silence == nullptr) {
    return {};
  }
  return {.layers = silence->encoder, .group = silence->encoder_group};
}

// The group for a window of so many positions: kSilenceGroup where it divides them.
[[nodiscard]] inline int64_t silence_group(int64_t n_audio_ctx) {
  return n_audio_ctx % kSilenceGroup == 0 ? kSilenceGroup : 1;
}

}  // namespace mynah::whisper
