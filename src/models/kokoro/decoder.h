// Decoder: phonemes, pitch and energy become what the generator sings (yl4579/StyleTTS2
// Modules/istftnet.py, Decoder).
#pragma once

#include <array>

#include "models/kokoro/adain.h"
#include "models/kokoro/melody.h"

namespace mynah::kokoro {

class Decoder {
 public:
  Decoder() = default;

  // w is the checkpoint's "decoder".
  static Result<Decoder> load(const Weights& w, const Sizes& sizes);

  // text (frames, hidden), two values of pitch and energy a frame, style, the acoustic half -> (2
  // frames, the generator's width).
  [[nodiscard]] Tensor operator()(const Tensor& text, const Melody& melody,
                                  const Tensor& style) const;

 private:
  Backend* backend_ = nullptr;
  Conv1d pitch_;
  Conv1d energy_;
  Conv1d text_;
  AdaInBlock encode_;
  std::array<AdaInBlock, 4> decode_;
};

}  // namespace mynah::kokoro
