// TextEncoder: phonemes as the decoder hears them (yl4579/StyleTTS2 models.py).
#pragma once

#include <array>

#include "models/kokoro/sizes.h"
#include "nn/bi_lstm.h"
#include "nn/conv1d.h"

namespace mynah::kokoro {

class TextEncoder {
 public:
  TextEncoder() = default;

  // w is the checkpoint's "text_encoder".
  static Result<TextEncoder> load(const Weights& w, const Sizes& sizes);

  // ids of one sentence -> (phonemes, hidden).
  [[nodiscard]] Tensor operator()(std::span<const int32_t> ids) const;

 private:
  struct Layer {
    Conv1d conv;
    Tensor gamma;
    Tensor beta;
  };

  Backend* backend_ = nullptr;
  Tensor table_;
  std::array<Layer, 3> layers_;
  BiLstm lstm_;
};

}  // namespace mynah::kokoro
