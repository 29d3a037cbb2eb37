// Hibari's text encoders: phonemes through two blocks of convolutions and one layer of attention
// that runs several times.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/hibari/conv_block.h"

namespace mynah::hibari {

class TextEncoder {
 public:
  TextEncoder() = default;

  // path is "m.text" or "pn.text".
  static Result<TextEncoder> load(const Weights& weights, const std::string& path, int64_t passes,
                                  const Dilations& dilations);

  // ids below symbols() -> (ids, width()).
  [[nodiscard]] Tensor operator()(std::span<const int32_t> ids) const;

  [[nodiscard]] int64_t symbols() const { return symbols_; }

  [[nodiscard]] int64_t width() const { return width_; }

 private:
  [[nodiscard]] Tensor attend(const Tensor& x) const;

  Backend* backend_ = nullptr;
  int64_t symbols_ = 0;
  int64_t width_ = 0;
  int64_t passes_ = 0;
  Precision precision_ = Precision::Exact;
  Tensor table_;
  std::vector<ConvBlock> blocks_;
  LayerNorm attention_norm_;
  Linear qkv_;
  Linear out_;
  LayerNorm ffn_norm_;
  Linear widen_;
  Linear narrow_;
  LayerNorm last_norm_;
};

}  // namespace mynah::hibari
