#include "models/piper/relative_attention.h"

#include <cmath>

#include <fmt/format.h>

namespace mynah::piper {

Result<RelativeAttention> RelativeAttention::load(const Module& m, int64_t width) {
  RelativeAttention attention;
  attention.backend_ = &m.weights().backend();
  MYNAH_TRY(const Shape near, m.shape("emb_rel_k", 3));
  if (near[0] != 1 || near[1] % 2 == 0 || width % near[2] != 0) {
    return fail(ErrorCode::Unsupported,
                fmt::format("emb_rel_k: wanted (1, 2 window + 1, a part of {}), found {}", width,
                            near.str()));
  }
  attention.heads_ = width / near[2];
  attention.head_width_ = near[2];
  attention.window_ = near[1] / 2;
  MYNAH_TRY(attention.query_, (m / "conv_q").conv({.in = width, .out = width}));
  MYNAH_TRY(attention.key_, (m / "conv_k").conv({.in = width, .out = width}));
  MYNAH_TRY(attention.value_, (m / "conv_v").conv({.in = width, .out = width}));
  MYNAH_TRY(attention.out_, (m / "conv_o").conv({.in = width, .out = width}));
  MYNAH_TRY(attention.near_keys_, m.weights().get("emb_rel_k", near));
  MYNAH_TRY(attention.near_values_, m.weights().get("emb_rel_v", near));
  return attention;
}

Tensor RelativeAttention::operator()(const Tensor& x) const {
  Backend& backend = *backend_;
  const int64_t rows = x.dim(0);
  const Lengths sentence{rows};
  const Tensor q =
      ops::affine(backend, query_(x, sentence), 1.0F / std::sqrt(static_cast<float>(head_width_)));
  const Tensor k = key_(x, sentence);
  const Tensor v = value_(x, sentence);
  const Tensor seen = ops::empty(backend, x.shape());
  for (int64_t head = 0; head < heads_; ++head) {
    const auto own = [&](const Tensor& all) {
      return ops::contiguous(backend, all.narrow(1, head * head_width_, head_width_))
          .reshape({1, rows, head_width_});
    };
    ops::copy_into(backend, attend(own(q), own(k), own(v)),
                   seen.narrow(1, head * head_width_, head_width_));
  }
  return out_(seen, sentence, {.residual = &x});
}

// One head: q, k, v (1, rows, head_width) -> (rows, head_width).
Tensor RelativeAttention::attend(const Tensor& q, const Tensor& k, const Tensor& v) const {
  Backend& backend = *backend_;
  const int64_t rows = q.dim(1);
  const Tensor near = ops::matmul(backend, q, near_keys_, true);  // (1, rows, 2 window + 1)
  const Tensor scores =
      ops::add(backend, ops::matmul(backend, q, k, true).reshape({rows, rows}), to_square(near));
  const Tensor chances = ops::softmax(backend, scores);
  const Tensor seen = ops::matmul(backend, chances.reshape({1, rows, rows}), v);
  return ops::add(backend, seen, ops::matmul(backend, to_band(chances), near_values_))
      .reshape({rows, head_width_});
}

// (1, rows, 2 window + 1) of neighbours -window to window -> (rows, rows), zero where there is no
// neighbour. Rows of w + n numbers, read as rows of one number less, each stand one place further
// right than the row before.
Tensor RelativeAttention::to_square(const Tensor& band) const {
  const int64_t rows = band.dim(1);
  const int64_t reach = 2 * window_;
  const Tensor flat = ops::zeros(*backend_, {rows * (rows + reach + 1)});
  ops::copy_into(*backend_, band.reshape({rows, reach + 1}),
                 flat.reshape({rows, rows + reach + 1}).narrow(1, 0, reach + 1));
  return ops::contiguous(*backend_, flat.narrow(0, 0, rows * (rows + reach))
                                        .reshape({rows, rows + reach})
                                        .narrow(1, window_, rows));
}

// The way back: (rows, rows) -> (1, rows, 2 window + 1), zero where there is no neighbour.
Tensor RelativeAttention::to_band(const Tensor& square) const {
  const int64_t rows = square.dim(0);
  const int64_t reach = 2 * window_;
  const Tensor flat = ops::zeros(*backend_, {rows * (rows + reach + 1)});
  ops::copy_into(*backend_, square,
                 flat.narrow(0, 0, rows * (rows + reach))
                     .reshape({rows, rows + reach})
                     .narrow(1, window_, rows));
  return ops::contiguous(*backend_, flat.reshape({rows, rows + reach + 1}).narrow(1, 0, reach + 1))
      .reshape({1, rows, reach + 1});
}

}  // namespace mynah::piper
