// Transposed one-dimensional convolution, as a vocoder's upsampling has it, in terms of conv1d.
//
// A result's rows come in steps of `stride`, one step for each row of x. Row j of a step sees only
// the taps k with k = j + padding (mod stride): an ordinary convolution of kernel / stride taps,
// rounded up or down, whose rows stand `stride` apart. Neighbouring j see the same rows of x, until
// j + padding passes a multiple of the stride or a tap drops out, so all of them are one
// convolution with a column for each j and each feature, and its row is a run of memory within a
// step. That makes two parts where the kernel is a multiple of the stride, and three at most, with
// just the products of the definition. A convolution for each j would be `stride` launches on a
// card (10 in Kokoro), each of few columns, and as many roundings of x; a single one over the taps
// of all would multiply by zeros half as much again (3 rows of x instead of 2 in Kokoro).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tensor/backend.h"

namespace mynah {

// As PyTorch's ConvTranspose1d names them: element (p, o) of the result is the sum of x[t, c]
// W[c, o, k] over the rows t and taps k with t * stride - padding + k = p, and o's group's c.
struct ConvTranspose1dSizes {
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t padding = 0;
  int64_t output_padding = 0;
  int64_t groups = 1;

  // Whether the result is exactly `stride` times as long as x, and no row of it is past all taps:
  // kernel - stride = 2 padding - output_padding, and output_padding <= padding. Others are
  // refused.
  [[nodiscard]] bool supported() const;
  // "kernel 20 stride 10 padding 5+0 groups 1"
  [[nodiscard]] std::string str() const;
};

// Rows [begin, begin + rows) of each step.
struct ConvTranspose1dPart {
  int64_t begin = 0;
  int64_t rows = 1;
  int64_t taps = 1;
  int64_t padding_left = 0;  // rows of x before its own; taps - 1 in all, on either side

  [[nodiscard]] int64_t padding_right() const { return taps - 1 - padding_left; }
};

// What ops::conv_transpose1d computes with.
struct ConvTranspose1dWeight {
  struct Part {
    ConvTranspose1dPart place;
    LinearWeight weight;  // of conv1d: (place.rows * out, in / groups, place.taps)
  };

  ConvTranspose1dSizes sizes;
  int64_t in_features = 0;
  int64_t out_features = 0;
  std::vector<Part> parts;
  Tensor bias;  // (stride, out): the same for each row of a step; undefined: none
};

// The rest, as conv1d has it.
struct ConvTranspose1dParams {
  const Conv1dInput* input = nullptr;  // null: x
  const Tensor* residual = nullptr;    // like the result
  Activation activation = Activation::None;
  Precision precision = Precision::Exact;
};

namespace ops {

// The parts of a step, in order. With groups each row is a part of its own: conv1d wants a group's
// columns side by side.
[[nodiscard]] std::vector<ConvTranspose1dPart> conv_transpose1d_parts(
    const ConvTranspose1dSizes& sizes);
// Packs one part of w (in, out / groups, kernel), in host memory.
[[nodiscard]] LinearWeight pack_conv_transpose1d_part(Backend& backend, const Tensor& w,
                                                      DType storage,
                                                      const ConvTranspose1dSizes& sizes,
                                                      const ConvTranspose1dPart& part);
// A bias (out) for each row of a step: (stride, out).
[[nodiscard]] Tensor pack_conv_transpose1d_bias(Backend& backend, const Tensor& bias,
                                                const ConvTranspose1dSizes& sizes);
// All parts of w (in, out / groups, kernel), in host memory, and the bias (out), if there is one.
[[nodiscard]] ConvTranspose1dWeight pack_conv_transpose1d(Backend& backend, const Tensor& w,
                                                          const Tensor* bias, DType storage,
                                                          const ConvTranspose1dSizes& sizes);

// x (lengths.total(), in) -> (stride * lengths.total(), out), utterance by utterance:
// activation(sum + bias) + residual.
[[nodiscard]] Tensor conv_transpose1d(Backend& backend, const Tensor& x, const Lengths& lengths,
                                      const ConvTranspose1dWeight& w,
                                      const ConvTranspose1dParams& params = {});
// The lengths of conv_transpose1d's result.
[[nodiscard]] Lengths conv_transpose1d_lengths(const Lengths& lengths,
                                               const ConvTranspose1dSizes& sizes);

}  // namespace ops

}  // namespace mynah
