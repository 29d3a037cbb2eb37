// MelodyPredictor: pitch and energy over the time of a sentence (yl4579/StyleTTS2 models.py,
// ProsodyPredictor.F0Ntrain).
#pragma once

#include <array>

#include "models/kokoro/adain.h"
#include "nn/bi_lstm.h"

namespace mynah::kokoro {

// Two values a frame, each (2 frames, 1).
struct Melody {
  Tensor pitch;  // Hz; below 10: no voice
  Tensor energy;
};

class MelodyPredictor {
 public:
  MelodyPredictor() = default;

  // w is the checkpoint's "predictor".
  static Result<MelodyPredictor> load(const Weights& w, const Sizes& sizes);

  // x (frames, hidden + style) of one sentence; style, the prosodic half.
  [[nodiscard]] Melody operator()(const Tensor& x, const Tensor& style) const;

 private:
  struct Curve {
    std::array<AdaInBlock, 3> blocks;
    Conv1d out;
  };

  static Result<Curve> load_curve(const Weights& w, const Sizes& sizes, std::string_view name);
  static Tensor run(const Curve& curve, Tensor x, const Tensor& style);

  BiLstm shared_;
  Curve pitch_;
  Curve energy_;
};

}  // namespace mynah::kokoro
