// SilenceCache: what Whisper computes for 30 seconds of silence, once, so that short audio costs
// short time (docs/architecture.md, "cached silence").
#pragma once

#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace mynah::whisper {

// Keys, values and states of a whole window of silence. An utterance of n positions sees positions
// [n, n_audio_ctx) of these as if the silence after it had been computed with it.
struct SilenceCache {
  struct Layer {
    Tensor keys;    // (n_audio_ctx, width)
    Tensor values;  // (n_audio_ctx, width)
  };

  std::vector<Layer> encoder;  // of each encoder layer's self-attention
  std::vector<Layer> decoder;  // of each decoder layer's cross-attention to the encoded silence
};

}  // namespace mynah::whisper
