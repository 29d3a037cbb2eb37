// AudioEncoder: two convolutions, then pre-norm transformer blocks over 20 ms positions. Whisper's
// (openai/whisper model.py class AudioEncoder), and that of models which were made of it; golden:
// tests/models/whisper/golden.
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "nn/conv1d.h"
#include "nn/layer_norm.h"
#include "nn/linear.h"

namespace mynah {

// What each layer's self-attention sees after an utterance's own n positions: keys and values
// [n, positions of a window) of these, as if they had been computed with it.
struct AudioTail {
  std::span<const KeysValues> layers;
  int64_t group = 1;  // positions that are one in them; divides n
};

class AudioEncoder {
 public:
  struct Sizes {
    int64_t mels = 80;
    int64_t positions = 0;  // of the longest utterance: 20 ms each
    int64_t width = 0;
    int64_t heads = 1;
    int64_t layers = 0;
  };

  // What one layer's self-attention looks at, before it is packed.
  struct LayerKeys {
    Tensor keys;    // (positions, width)
    Tensor values;  // (positions, width)
  };

  // w holds "conv1", "conv2", "positional_embedding", "blocks" and "ln_post".
  static Result<AudioEncoder> load(const Weights& w, const Sizes& sizes);

  // mel (frames.total(), mels), an even number of frames and at most 2 * positions an utterance
  // -> (positions(frames).total(), width). `tail` is of what follows each utterance; `kept` takes
  // each layer's keys and values where it is not null.
  // Once stop is requested the states mean nothing: the layers left are passed over.
  [[nodiscard]] Tensor forward(const Tensor& mel, const Lengths& frames, const AudioTail& tail = {},
                               std::vector<LayerKeys>* kept = nullptr,
                               const std::stop_token& stop = {}) const;

  // Positions that come out of mel frames: half as many.
  [[nodiscard]] Lengths positions(const Lengths& frames) const;

 private:
  struct Block {
    LayerNorm attn_ln;
    Linear qkv;  // query, key and value side by side
    Linear attn_out;
    LayerNorm mlp_ln;
    Linear mlp_in;
    Linear mlp_out;

    static Result<Block> load(const Weights& w, int64_t width);
  };

  [[nodiscard]] Tensor self_attention(const Block& block, const Tensor& qkv, const Tensor& x,
                                      const Lengths& lengths, const KeysValues* tail,
                                      int64_t tail_group) const;
  // x (time, width); the result may be x itself, changed.
  [[nodiscard]] Tensor feed_forward(const Block& block, const Tensor& x) const;

  Backend* backend_ = nullptr;
  Precision precision_ = Precision::Exact;
  int64_t width_ = 0;
  int64_t heads_ = 1;
  Conv1d conv1_;
  Conv1d conv2_;
  Tensor position_;  // (positions, width)
  std::vector<Block> blocks_;
  LayerNorm ln_post_;
};

}  // namespace mynah
