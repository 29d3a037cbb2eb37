// VITS's text encoder: phonemes to what the durations and the flow are predicted from (Kim, Kong
// and Son 2021, arXiv:2106.06103, section 2.5.1; models.py, TextEncoder).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/piper/relative_attention.h"
#include "nn/layer_norm.h"

namespace mynah::piper {

class TextEncoder {
 public:
  // What a sentence's phonemes are.
  struct Encoded {
    Tensor x;          // (phonemes, width)
    Tensor mean;       // (phonemes, latent): of the prior
    Tensor logarithm;  // (phonemes, latent): of its deviation
  };

  TextEncoder() = default;

  // m is the checkpoint's "enc_p".
  static Result<TextEncoder> load(const Module& m);

  // ids of phonemes below symbols(), at least one.
  [[nodiscard]] Encoded operator()(std::span<const int32_t> ids) const;

  [[nodiscard]] int64_t symbols() const { return symbols_; }

  [[nodiscard]] int64_t width() const { return width_; }

  [[nodiscard]] int64_t latent() const { return latent_; }

 private:
  struct Layer {
    RelativeAttention attention;
    LayerNorm attention_norm;
    Conv1d widen;
    Conv1d narrow;
    LayerNorm ffn_norm;
  };

  Backend* backend_ = nullptr;
  int64_t symbols_ = 0;
  int64_t width_ = 0;
  int64_t latent_ = 0;
  Tensor table_;
  std::vector<Layer> layers_;
  Conv1d project_;
};

}  // namespace mynah::piper
