// Kokoro's predictor of durations: how long each phoneme sounds, and what its melody is predicted
// from (yl4579/StyleTTS2 models.py, DurationEncoder and ProsodyPredictor).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "models/kokoro/adain.h"
#include "models/kokoro/sizes.h"
#include "nn/bi_lstm.h"
#include "nn/linear.h"

namespace mynah::kokoro {

// A sentence as its prosody sees it.
struct Prosody {
  Tensor x;                     // (phonemes, hidden + style)
  std::vector<int32_t> frames;  // of 1/40 s, at least one for each phoneme
};

// The phoneme of each frame: 0, 0, 0, 1, ... where the first has three.
[[nodiscard]] std::vector<int32_t> phonemes_of(std::span<const int32_t> frames);

class DurationPredictor {
 public:
  DurationPredictor() = default;

  // w is the checkpoint's "predictor".
  static Result<DurationPredictor> load(const Weights& w, const Sizes& sizes);

  // x (phonemes, hidden) of one sentence; style, the voice's prosodic half; speed
  // above 0, at 2 everything takes half the time.
  [[nodiscard]] Prosody operator()(const Tensor& x, const Tensor& style, float speed) const;

 private:
  // Layer norm whose gamma and beta a style chooses (AdaLayerNorm).
  struct Layer {
    BiLstm lstm;
    StyleFactors factors;
  };

  [[nodiscard]] Tensor with_style(const Tensor& x, const Tensor& style) const;

  Backend* backend_ = nullptr;
  std::array<Layer, 3> layers_;
  BiLstm lstm_;
  Linear duration_;
};

}  // namespace mynah::kokoro
