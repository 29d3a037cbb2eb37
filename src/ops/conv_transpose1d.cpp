#include "ops/conv_transpose1d.h"

#include <memory>
#include <span>

#include "ops/conv_input.h"
#include "ops/expect.h"
#include "ops/ops.h"
#include "tensor/host_pool.h"
#include "tensor/quantize.h"

namespace mynah {

bool ConvTranspose1dSizes::supported() const {
  return kernel >= 1 && stride >= 1 && padding >= 0 && output_padding >= 0 && groups >= 1 &&
         kernel - stride == 2 * padding - output_padding && output_padding <= padding;
}

std::string ConvTranspose1dSizes::str() const {
  return "kernel " + std::to_string(kernel) + " stride " + std::to_string(stride) + " padding " +
         std::to_string(padding) + "+" + std::to_string(output_padding) + " groups " +
         std::to_string(groups);
}

namespace ops {
namespace {

void expect_supported(const char* op, const ConvTranspose1dSizes& sizes) {
  MYNAH_CHECK(sizes.supported(), "[", op,
              "] wants kernel - stride = 2 padding - output_padding, and output_padding at most "
              "padding, got ",
              sizes.str());
}

// Row j of a step alone.
ConvTranspose1dPart part_of_row(const ConvTranspose1dSizes& sizes, int64_t j) {
  const int64_t first = (j + sizes.padding) % sizes.stride;  // of its taps
  const int64_t taps = (sizes.kernel - first + sizes.stride - 1) / sizes.stride;
  // Tap first + i * stride meets row (j + padding) / stride - i, counted from the step's own.
  const int64_t after = (j + sizes.padding) / sizes.stride;
  return {.begin = j, .rows = 1, .taps = taps, .padding_left = taps - 1 - after};
}

}  // namespace

std::vector<ConvTranspose1dPart> conv_transpose1d_parts(const ConvTranspose1dSizes& sizes) {
  expect_supported("conv_transpose1d_parts", sizes);
  std::vector<ConvTranspose1dPart> parts;
  for (int64_t j = 0; j < sizes.stride; ++j) {
    const ConvTranspose1dPart own = part_of_row(sizes, j);
    if (sizes.groups == 1 && !parts.empty() && parts.back().taps == own.taps &&
        parts.back().padding_left == own.padding_left) {
      ++parts.back().rows;
    } else {
      parts.push_back(own);
    }
  }
  return parts;
}

LinearWeight pack_conv_transpose1d_part(Backend& backend, const Tensor& w, DType storage,
                                        const ConvTranspose1dSizes& sizes,
                                        const ConvTranspose1dPart& part) {
  MYNAH_CHECK(w.defined() && w.rank() == 3 && w.elements() > 0 && w.dim(2) == sizes.kernel &&
                  w.dim(0) % sizes.groups == 0,
              "[pack_conv_transpose1d] w must be (in, out / groups, kernel) of ", sizes.str(),
              ", got ", w.shape().str());
  std::vector<float> values(static_cast<size_t>(w.elements()));
  dequantize(w.dtype(), w.raw(), values);
  const int64_t in = w.dim(0) / sizes.groups;  // of a group, as is
  const int64_t out = w.dim(1);
  const Shape shape{part.rows * sizes.groups * out, in, part.taps};
  auto turned = std::make_shared<std::vector<float>>();
  turned->reserve(static_cast<size_t>(shape.elements()));
  for (int64_t column = 0; column < shape[0]; ++column) {
    const int64_t j = part.begin + column / (sizes.groups * out);
    const int64_t feature = column % (sizes.groups * out);
    const int64_t first = (j + sizes.padding) % sizes.stride;
    for (int64_t c = 0; c < in; ++c) {
      const int64_t kernel = (feature / out * in + c) * out + feature % out;
      for (int64_t tap = part.taps - 1; tap >= 0; --tap) {  // the last meets the earliest row
        turned->push_back(
            values[static_cast<size_t>(kernel * sizes.kernel + first + tap * sizes.stride)]);
      }
    }
  }
  const auto bytes = std::as_bytes(std::span(*turned));
  const Tensor host(wrap_host_memory(bytes.data(), bytes.size(), turned), 0, shape, DType::F32,
                    Device{DeviceKind::Cpu, 0});
  return pack_conv1d(backend, host, storage, sizes.groups);
}

Tensor pack_conv_transpose1d_bias(Backend& backend, const Tensor& bias,
                                  const ConvTranspose1dSizes& sizes) {
  expect(backend, "pack_conv_transpose1d", "bias", bias, {"out"});
  const Tensor one = contiguous(backend, bias).reshape({1, bias.dim(0)});
  Tensor all = empty(backend, {sizes.stride, bias.dim(0)});
  for (int64_t j = 0; j < sizes.stride; ++j) {
    copy_into(backend, one, all.narrow(0, j, 1));
  }
  return all;
}

ConvTranspose1dWeight pack_conv_transpose1d(Backend& backend, const Tensor& w, const Tensor* bias,
                                            DType storage, const ConvTranspose1dSizes& sizes) {
  ConvTranspose1dWeight packed{.sizes = sizes, .parts = {}, .bias = {}};
  for (const ConvTranspose1dPart& part : conv_transpose1d_parts(sizes)) {
    packed.parts.push_back({part, pack_conv_transpose1d_part(backend, w, storage, sizes, part)});
  }
  packed.in_features = w.dim(0);
  packed.out_features = w.dim(1) * sizes.groups;
  if (bias != nullptr) {
    packed.bias = pack_conv_transpose1d_bias(backend, *bias, sizes);
  }
  return packed;
}

Tensor conv_transpose1d(Backend& backend, const Tensor& x, const Lengths& lengths,
                        const ConvTranspose1dWeight& w, const ConvTranspose1dParams& params) {
  MYNAH_CHECK(!w.parts.empty(), "[conv_transpose1d] w is not defined");
  const int64_t stride = w.sizes.stride;
  const int64_t steps = lengths.total();
  expect(backend, "conv_transpose1d", "x", x, {steps, w.in_features});
  expect_input(backend, "conv_transpose1d", params.input, lengths, w.in_features);
  if (w.bias.defined()) {
    expect(backend, "conv_transpose1d", "bias", w.bias, {stride, w.out_features});
  }
  // Rows of one step stand side by side: parts are columns of this.
  const Shape by_steps{steps, stride * w.out_features};
  Tensor residual;
  if (params.residual != nullptr) {
    expect(backend, "conv_transpose1d", "residual", *params.residual,
           {stride * steps, w.out_features});
    residual = contiguous(backend, *params.residual).reshape(by_steps);
  }
  Tensor out = empty(backend, {stride * steps, w.out_features});
  if (out.elements() == 0) {
    return out;
  }
  for (const ConvTranspose1dWeight::Part& part : w.parts) {
    const int64_t begin = part.place.begin * w.out_features;
    const int64_t columns = part.place.rows * w.out_features;
    Tensor bias;
    if (w.bias.defined()) {
      bias = w.bias.narrow(0, part.place.begin, part.place.rows).reshape({columns});
    }
    Tensor added;
    if (residual.defined()) {
      added = residual.narrow(1, begin, columns);
    }
    backend.conv1d(x, lengths, part.weight,
                   {.kernel = part.place.taps,
                    .padding_left = part.place.padding_left,
                    .padding_right = part.place.padding_right(),
                    .groups = w.sizes.groups,
                    .input = params.input,
                    .bias = bias.defined() ? &bias : nullptr,
                    .residual = added.defined() ? &added : nullptr,
                    .activation = params.activation,
                    .precision = params.precision},
                   out.reshape(by_steps).narrow(1, begin, columns));
  }
  return out;
}

Lengths conv_transpose1d_lengths(const Lengths& lengths, const ConvTranspose1dSizes& sizes) {
  Lengths out;
  for (const Span& span : lengths.spans()) {
    out.add(span.length * sizes.stride);
  }
  return out;
}

}  // namespace ops
}  // namespace mynah
