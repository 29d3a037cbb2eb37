// BiLstm: a layer that hears each utterance from both ends.
#pragma once

#include <array>

#include "nn/weights.h"
#include "ops/ops.h"

namespace mynah {

class BiLstm {
 public:
  struct Sizes {
    int64_t in = 0;
    int64_t hidden = 0;  // of one direction
  };

  BiLstm() = default;

  // w holds, as PyTorch's nn.LSTM, "weight_ih_l0" (4 hidden, in), "weight_hh_l0" (4 hidden,
  // hidden), "bias_ih_l0" and "bias_hh_l0" (4 hidden), and the same with "_reverse".
  static Result<BiLstm> load(const Weights& w, const Sizes& sizes);

  // x (lengths.total(), in) -> (lengths.total(), 2 hidden): forwards, then backwards.
  [[nodiscard]] Tensor operator()(const Tensor& x, const Lengths& lengths) const;

 private:
  struct Direction {
    LinearWeight input;
    LinearWeight recurrent;
    Tensor bias;  // both summed
  };

  Backend* backend_ = nullptr;
  int64_t hidden_ = 0;
  std::array<Direction, 2> directions_;
};

}  // namespace mynah
