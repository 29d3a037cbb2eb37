#include "models/kokoro/text_encoder.h"

namespace mynah::kokoro {

Result<TextEncoder> TextEncoder::load(const Weights& w, const Sizes& sizes) {
  TextEncoder encoder;
  encoder.backend_ = &w.backend();
  MYNAH_TRY(encoder.table_, w.get("embedding.weight", {kVocabulary, sizes.hidden}));
  for (size_t i = 0; i < encoder.layers_.size(); ++i) {
    const Weights layer = w / "cnn" / static_cast<int64_t>(i);
    MYNAH_TRY(encoder.layers_[i].conv,
              Conv1d::load(layer / 0,
                           {.in = sizes.hidden, .out = sizes.hidden, .kernel = 5, .padding = 2}));
    MYNAH_TRY(encoder.layers_[i].gamma, (layer / 1).get("gamma", {sizes.hidden}));
    MYNAH_TRY(encoder.layers_[i].beta, (layer / 1).get("beta", {sizes.hidden}));
  }
  MYNAH_TRY(encoder.lstm_,
            BiLstm::load(w / "lstm", {.in = sizes.hidden, .hidden = sizes.hidden / 2}));
  return encoder;
}

Tensor TextEncoder::operator()(std::span<const int32_t> ids) const {
  constexpr float kSlope = 0.2F;
  const Lengths sentence{static_cast<int64_t>(ids.size())};
  Tensor x = ops::embedding(*backend_, table_, ops::from_host(*backend_, ids, {sentence.total()}));
  for (const Layer& layer : layers_) {
    x = ops::layer_norm(*backend_, layer.conv(x, sentence), layer.gamma, layer.beta);
    x = ops::leaky_relu(*backend_, x, kSlope);
  }
  return lstm_(x, sentence);
}

}  // namespace mynah::kokoro
