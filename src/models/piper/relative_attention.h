// Attention that knows how far away its neighbours are (Shaw, Uszkoreit and Vaswani 2018,
// arXiv:1803.02155, with a window, as VITS attentions.py has it).
#pragma once

#include "models/piper/module.h"

namespace mynah::piper {

class RelativeAttention {
 public:
  RelativeAttention() = default;

  // m holds conv_q, conv_k, conv_v, conv_o of `width` channels, emb_rel_k and emb_rel_v
  // (1, 2 window + 1, width / heads), which all heads share.
  static Result<RelativeAttention> load(const Module& m, int64_t width);

  // x (rows, width) of one sentence -> the same shape: what x attends to, added to x.
  [[nodiscard]] Tensor operator()(const Tensor& x) const;

 private:
  [[nodiscard]] Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v) const;
  [[nodiscard]] Tensor to_square(const Tensor& band) const;
  [[nodiscard]] Tensor to_band(const Tensor& square) const;

  Backend* backend_ = nullptr;
  int64_t heads_ = 1;
  int64_t head_width_ = 0;
  int64_t window_ = 0;
  Conv1d query_;
  Conv1d key_;
  Conv1d value_;
  Conv1d out_;
  Tensor near_keys_;    // (1, 2 window + 1, head_width)
  Tensor near_values_;  // the same
};

}  // namespace mynah::piper
