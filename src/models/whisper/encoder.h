// Whisper's audio encoder: two convolutions, then pre-norm transformer blocks over 20 ms positions.
// Follows openai/whisper model.py class AudioEncoder; golden: tests/models/whisper/golden.
#pragma once

#include <stop_token>
#include <vector>

#include "models/whisper/config.h"
#include "models/whisper/silence.h"
#include "nn/conv1d.h"
#include "nn/layer_norm.h"
#include "nn/linear.h"

namespace mynah::whisper {

class Encoder {
 public:
  // What one layer's self-attention looks at, before it is packed.
  struct LayerKeys {
    Tensor keys;    // (positions, width)
    Tensor values;  // (positions, width)
  };

  // w holds "conv1", "conv2", "positional_embedding", "blocks" and "ln_post".
  static Result<Encoder> load(const Weights& w, const Config& config);

  // mel (frames.total(), n_mels), an even number of frames and at most window_frames() an utterance
  // -> (positions(frames).total(), width). With `silence` each layer's attention also sees the
  // silence after the utterance; `kept` takes each layer's keys and values where it is not null.
  // Once stop is requested the states mean nothing: the layers left are passed over.
  [[nodiscard]] Tensor forward(const Tensor& mel, const Lengths& frames,
                               const SilenceCache* silence = nullptr,
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
  Tensor position_;  // (n_audio_ctx, width)
  std::vector<Block> blocks_;
  LayerNorm ln_post_;
};

}  // namespace mynah::whisper
