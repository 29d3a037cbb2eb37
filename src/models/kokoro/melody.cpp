#include "models/kokoro/melody.h"

#include <string>
#include <utility>

namespace mynah::kokoro {

Result<MelodyPredictor> MelodyPredictor::load(const Weights& w, const Sizes& sizes) {
  MelodyPredictor predictor;
  MYNAH_TRY(predictor.shared_, BiLstm::load(w / "shared", {.in = sizes.hidden + sizes.style,
                                                           .hidden = sizes.hidden / 2}));
  MYNAH_TRY(predictor.pitch_, load_curve(w, sizes, "F0"));
  MYNAH_TRY(predictor.energy_, load_curve(w, sizes, "N"));
  return predictor;
}

Result<MelodyPredictor::Curve> MelodyPredictor::load_curve(const Weights& w, const Sizes& sizes,
                                                           std::string_view name) {
  const int64_t half = sizes.hidden / 2;
  const std::array<AdaInBlock::Sizes, 3> blocks = {
      {{.in = sizes.hidden, .out = sizes.hidden, .style = sizes.style},
       {.in = sizes.hidden, .out = half, .style = sizes.style, .upsamples = true},
       {.in = half, .out = half, .style = sizes.style}}};
  Curve curve;
  for (size_t i = 0; i < blocks.size(); ++i) {
    MYNAH_TRY(curve.blocks[i], AdaInBlock::load(w / name / static_cast<int64_t>(i), blocks[i]));
  }
  MYNAH_TRY(curve.out, Conv1d::load(w / (std::string(name) + "_proj"), {.in = half, .out = 1}));
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
