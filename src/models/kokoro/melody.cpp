#include "models/kokoro/melody.h"

#include <string>
#include <utility>

namespace mynah::kokoro {

Result<MelodyPredictor> MelodyPredictor::load(const Weights& w) {
  MelodyPredictor predictor;
  MYNAH_TRY(predictor.shared_,
            BiLstm::load(w / "shared", {.in = kHidden + kStyle, .hidden = kHidden / 2}));
  MYNAH_TRY(predictor.pitch_, load_curve(w, "F0"));
  MYNAH_TRY(predictor.energy_, load_curve(w, "N"));
  return predictor;
}

Result<MelodyPredictor::Curve> MelodyPredictor::load_curve(const Weights& w,
                                                           std::string_view name) {
  constexpr int64_t kHalf = kHidden / 2;
  constexpr std::array<AdaInBlock::Sizes, 3> kSizes = {
      {{.in = kHidden, .out = kHidden},
       {.in = kHidden, .out = kHalf, .upsamples = true},
       {.in = kHalf, .out = kHalf}}};
  Curve curve;
  for (size_t i = 0; i < kSizes.size(); ++i) {
    MYNAH_TRY(curve.blocks[i], AdaInBlock::load(w / name / static_cast<int64_t>(i), kSizes[i]));
  }
  MYNAH_TRY(curve.out, Conv1d::load(w / (std::string(name) + "_proj"), {.in = kHalf, .out = 1}));
  return curve;
}

Tensor MelodyPredictor::run(const Curve& curve, Tensor x, const Tensor& style) {
  for (const AdaInBlock& block : curve.blocks) {
    x = block(x, style);
  }
  return curve.out(x, Lengths{x.dim(0)});
}

Melody MelodyPredictor::operator()(const Tensor& x, const Tensor& style) const {
  const Tensor heard = shared_(x, Lengths{x.dim(0)});
  return {.pitch = run(pitch_, heard, style), .energy = run(energy_, heard, style)};
}

}  // namespace mynah::kokoro
