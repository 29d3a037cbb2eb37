#include "models/kokoro/adain.h"

#include <numbers>
#include <vector>

namespace mynah::kokoro {

namespace {

constexpr float kStyledSlope = 0.2F;  // of the leaky ReLU

// Each row twice.
Tensor doubled(Backend& backend, const Tensor& x) {
  std::vector<int32_t> rows;
  rows.reserve(static_cast<size_t>(2 * x.dim(0)));
  for (int64_t i = 0; i < 2 * x.dim(0); ++i) {
    rows.push_back(static_cast<int32_t>(i / 2));
  }
  return ops::gather_rows(backend, x,
                          ops::from_host(backend, std::span<const int32_t>(rows), {2 * x.dim(0)}));
}

}  // namespace

Result<StyleFactors> StyleFactors::load(const Weights& w, int64_t channels, int64_t style) {
  StyleFactors factors;
  factors.backend_ = &w.backend();
  factors.channels_ = channels;
  MYNAH_TRY(factors.linear_, Linear::load(w / "fc", {.in = style, .out = 2 * channels}));
  return factors;
}

StyleFactors::Factors StyleFactors::operator()(const Tensor& style) const {
  const Tensor both = linear_(style);
  return {.gamma = ops::affine(*backend_, both.narrow(1, 0, channels_), 1.0F, 1.0F),
          .beta = both.narrow(1, channels_, channels_)};
}

Result<AdaIn> AdaIn::load(const Weights& w, int64_t channels, int64_t style) {
  AdaIn norm;
  norm.backend_ = &w.backend();
  MYNAH_TRY(norm.factors_, StyleFactors::load(w, channels, style));
  return norm;
}

Tensor AdaIn::operator()(const Tensor& x, const Lengths& lengths, const Tensor& style) const {
  const auto [gamma, beta] = factors_(style);
  return ops::instance_factors(*backend_, x, lengths, gamma, beta);
}

Result<AdaInBlock> AdaInBlock::load(const Weights& w, const Sizes& sizes) {
  AdaInBlock block;
  block.backend_ = &w.backend();
  block.sizes_ = sizes;
  MYNAH_TRY(block.norm1_, AdaIn::load(w / "norm1", sizes.in, sizes.style));
  MYNAH_TRY(block.norm2_, AdaIn::load(w / "norm2", sizes.out, sizes.style));
  MYNAH_TRY(
      block.conv1_,
      Conv1d::load(w / "conv1", {.in = sizes.in, .out = sizes.out, .kernel = 3, .padding = 1}));
  MYNAH_TRY(
      block.conv2_,
      Conv1d::load(w / "conv2", {.in = sizes.out, .out = sizes.out, .kernel = 3, .padding = 1}));
  if (sizes.in != sizes.out) {
    MYNAH_TRY(block.past_, Conv1d::load(w / "conv1x1", {.in = sizes.in, .out = sizes.out}));
  }
  if (sizes.upsamples) {
    MYNAH_TRY(block.pool_, ConvTranspose1d::load(w / "pool", {.in = sizes.in,
                                                              .out = sizes.in,
                                                              .kernel = {.kernel = 3,
                                                                         .stride = 2,
                                                                         .padding = 1,
                                                                         .output_padding = 1,
                                                                         .groups = sizes.in}}));
  }
  return block;
}

Tensor AdaInBlock::operator()(const Tensor& x, const Tensor& style) const {
  Backend& backend = *backend_;
  const Lengths before{x.dim(0)};
  Tensor past = sizes_.upsamples ? doubled(backend, x) : x;
  const Lengths lengths{past.dim(0)};
  if (sizes_.in != sizes_.out) {
    past = past_(past, lengths);
  }
  const Tensor first = norm1_(x, before, style);
  const Conv1dInput seen{.factors = &first, .slope = kStyledSlope};
  const Tensor own = sizes_.upsamples ? conv1_(pool_(x, before, {.input = &seen}), lengths)
                                      : conv1_(x, lengths, {.input = &seen});
  const Tensor second = norm2_(own, lengths, style);
  const Conv1dInput seen_again{.factors = &second, .slope = kStyledSlope};
  const Tensor sum = conv2_(own, lengths, {.input = &seen_again, .residual = &past});
  return ops::affine(backend, sum, std::numbers::sqrt2_v<float> / 2.0F);
}

}  // namespace mynah::kokoro
