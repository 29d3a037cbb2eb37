#include "nn/bi_lstm.h"

#include <string>

#include "nn/beside.h"

namespace mynah {

Result<BiLstm> BiLstm::load(const Weights& w, const Sizes& sizes) {
  BiLstm layer;
  layer.backend_ = &w.backend();
  layer.hidden_ = sizes.hidden;
  const int64_t gates = 4 * sizes.hidden;
  for (size_t i = 0; i < layer.directions_.size(); ++i) {
    const std::string suffix = i == 0 ? "_l0" : "_l0_reverse";
    Direction& direction = layer.directions_[i];
    MYNAH_TRY(direction.input, w.matrix("weight_ih" + suffix, gates, sizes.in));
    MYNAH_TRY(direction.recurrent, w.matrix("weight_hh" + suffix, gates, sizes.hidden));
    MYNAH_TRY(const Tensor input_bias, w.get("bias_ih" + suffix, {gates}));
    MYNAH_TRY(const Tensor recurrent_bias, w.get("bias_hh" + suffix, {gates}));
    direction.bias = ops::add(w.backend(), input_bias, recurrent_bias);
  }
  return layer;
}

Tensor BiLstm::operator()(const Tensor& x, const Lengths& lengths) const {
  std::array<Tensor, 2> heard;
  const auto hear = [&](int i) {
    const auto at = static_cast<size_t>(i);
    const Direction& direction = directions_[at];
    const Tensor h = ops::zeros(*backend_, {lengths.count(), hidden_});
    const Tensor c = ops::zeros(*backend_, {lengths.count(), hidden_});
    heard[at] = ops::lstm(*backend_, x, lengths, direction.input, direction.recurrent,
                          direction.bias, {.reverse = i == 1}, h, c);
  };
  // Each direction is one step after another: side by side they take half the time.
  if (backend_->parts() > 1) {
    backend_->run_parts(2, hear);
  } else {
    hear(0);
    hear(1);
  }
  return beside(*backend_, heard);
}

}  // namespace mynah
