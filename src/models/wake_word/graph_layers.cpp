// The steps of GraphPlan that compute: convolutions, a product, functions of a code.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "formats/byte_reader.h"
#include "models/wake_word/graph_plan.h"

namespace mynah::wake_word {
namespace {

constexpr int kLowestCode = -128;
constexpr int kHighestCode = 127;
constexpr int kCodes = 256;
// Of one sum, so that 32 bits hold it, and a bias that leaves it room.
constexpr size_t kMostTerms = 32768;
constexpr int32_t kMostBias = 1 << 29;
// Of a step in all: a hundred times what microWakeWord's have.
constexpr uint64_t kMostProducts = uint64_t{1} << 22;
constexpr double kMostRatio = 1 << 20;

enum Activation : uint8_t { kNone = 0, kRelu = 1 };

enum ConvolutionOption : uint8_t { kStrideWidth = 1, kStrideHeight = 2, kConvActivation = 3 };

// Behind the strides a depthwise one has how many outputs a channel has.
constexpr int kDepthwiseActivation = 4;
constexpr int kProductActivation = 0;

// Widths and heights of a convolution's dilation.
constexpr std::array<int, 2> kConvDilation = {4, 5};
constexpr std::array<int, 2> kDepthwiseDilation = {5, 6};

// Outputs along one axis of a convolution that pads nothing.
size_t places(size_t input, size_t kernel, size_t stride) {
  return input < kernel ? 0 : ((input - kernel) / stride) + 1;
}

Result<int> byte_option(const TfliteOperator& one, int field) {
  return one.options ? one.options->number<int8_t>(field, 0) : int8_t{0};
}

Result<int32_t> size_option(const TfliteOperator& one, int field, int32_t absent) {
  return one.options ? one.options->number<int32_t>(field, absent) : absent;
}

}  // namespace

Result<Area> GraphPlan::area_of(int32_t index) const {
  const TfliteTensor& one = tensor(index);
  if (one.type != TfliteType::I8 || one.shape.size() != 4 || one.shape[0] != 1) {
    return refuse(fmt::format("wanted (1, height, width, channels) in int8, found {} of tensor {}",
                              fmt::join(one.shape, " x "), in_quotes(one.name)));
  }
  return Area{.height = static_cast<size_t>(one.shape[1]),
              .width = static_cast<size_t>(one.shape[2]),
              .channels = static_cast<size_t>(one.shape[3])};
}

Result<std::vector<Ratio>> GraphPlan::ratios_of(const TfliteTensor& weights, const Scale& input,
                                                const Scale& output, size_t channels) const {
  const bool one_for_all = weights.scales.size() == 1;
  if ((!one_for_all && weights.scales.size() != channels) ||
      std::ranges::any_of(weights.zero_points, [](int64_t zero) { return zero != 0; })) {
    return refuse(fmt::format("wanted one scale or {} for the weights {}, and no zero points",
                              channels, in_quotes(weights.name)));
  }
  std::vector<Ratio> ratios(channels);
  for (size_t channel = 0; channel < channels; ++channel) {
    const float scale = weights.scales[one_for_all ? 0 : channel];
    // A product with one scale for all is rounded to a float there.
    const double both =
        one_for_all ? double{static_cast<float>(input.scale) * scale} : input.scale * double{scale};
    const double ratio = both / output.scale;
    if (!(ratio >= 0 && ratio < kMostRatio)) {
      return refuse(fmt::format("wanted scales of a ratio below {}, found {} for the weights {}",
                                kMostRatio, ratio, in_quotes(weights.name)));
    }
    ratios[channel] = Ratio::of(ratio);
  }
  return ratios;
}

// What is common to all that sums products: `layer` says which; weights and biases are added.
Status GraphPlan::add_layer(const TfliteOperator& one, Convolution layer, int activation) {
  const TfliteTensor& weights = tensor(one.inputs[1]);
  const size_t channels = layer.output.channels;
  const size_t terms =
      layer.kernel_height * layer.kernel_width * (layer.depthwise ? 1 : layer.input.channels);
  if (weights.type != TfliteType::I8 || weights.bytes.size() != terms * channels || terms == 0 ||
      terms > kMostTerms) {
    return refuse(fmt::format("{}: wanted {} x {} constant weights in int8, found {} bytes",
                              name(one.op), channels, terms, weights.bytes.size()));
  }
  network_.products_ += terms * layer.output.bytes();
  if (network_.products_ > kMostProducts) {
    return refuse(fmt::format("wanted a network of at most {} products", kMostProducts));
  }
  if (activation != kNone && activation != kRelu) {
    return refuse(fmt::format("{}: wanted a ReLU behind it or nothing, found activation {}",
                              name(one.op), activation));
  }
  MYNAH_TRY(const Scale input, scale_of(one.inputs[0]));
  MYNAH_TRY(const Scale output, scale_of(one.outputs[0]));
  MYNAH_TRY(layer.sums.ratios, ratios_of(weights, input, output, channels));
  layer.sums.zero = output.zero;
  layer.sums.least = activation == kRelu ? output.zero : kLowestCode;
  layer.sums.most = kHighestCode;
  layer.weights.resize(weights.bytes.size());
  std::memcpy(layer.weights.data(), weights.bytes.data(), weights.bytes.size());

  layer.sums.biases.assign(channels, 0);
  if (one.inputs.size() > 2 && one.inputs[2] >= 0) {
    MYNAH_TRY(layer.sums.biases, whole_numbers(one.inputs[2]));
  }
  if (layer.sums.biases.size() != channels ||
      std::ranges::any_of(layer.sums.biases,
                          [](int32_t bias) { return bias < -kMostBias || bias > kMostBias; })) {
    return refuse(fmt::format("{}: wanted {} biases below {}", name(one.op), channels, kMostBias));
  }
  for (size_t i = 0; i < layer.weights.size(); ++i) {
    const size_t channel = layer.depthwise ? i % channels : i / terms;
    layer.sums.biases[channel] -= input.zero * layer.weights[i];
  }
  MYNAH_TRY(layer.from, read_place(one.inputs[0]));
  MYNAH_TRY(layer.to, write_place(one.outputs[0]));
  network_.steps_.emplace_back(std::move(layer));
  return {};
}

Status GraphPlan::add_convolution(const TfliteOperator& one) {
  if (one.inputs.size() < 2 || one.inputs[0] < 0 || one.inputs[1] < 0 || one.outputs.size() != 1) {
    return refuse(fmt::format("{}: wanted an input and weights", name(one.op)),
                  ErrorCode::InvalidInput);
  }
  Convolution layer;
  layer.depthwise = one.op == TfliteOp::DepthwiseConv2d;
  MYNAH_TRY(layer.input, area_of(one.inputs[0]));
  MYNAH_TRY(layer.output, area_of(one.outputs[0]));
  const std::vector<int32_t>& shape = tensor(one.inputs[1]).shape;
  if (shape.size() != 4) {
    return refuse(fmt::format("{}: wanted weights of 4 axes", name(one.op)));
  }
  layer.kernel_height = static_cast<size_t>(shape[1]);
  layer.kernel_width = static_cast<size_t>(shape[2]);
  MYNAH_TRY(const int32_t stride_height, size_option(one, kStrideHeight, 0));
  MYNAH_TRY(const int32_t stride_width, size_option(one, kStrideWidth, 0));
  for (const int field : layer.depthwise ? kDepthwiseDilation : kConvDilation) {
    MYNAH_TRY(const int32_t dilation, size_option(one, field, 1));
    if (dilation != 1) {
      return refuse(fmt::format("{}: wanted no dilation, found {}", name(one.op), dilation));
    }
  }
  if (stride_height < 1 || stride_width < 1) {
    return refuse(fmt::format("{}: wanted steps of 1 or more", name(one.op)),
                  ErrorCode::InvalidInput);
  }
  layer.stride_height = static_cast<size_t>(stride_height);
  layer.stride_width = static_cast<size_t>(stride_width);
  const auto in_channels = static_cast<size_t>(shape[3]);
  if (layer.output.height != places(layer.input.height, layer.kernel_height, layer.stride_height) ||
      layer.output.width != places(layer.input.width, layer.kernel_width, layer.stride_width) ||
      layer.output.bytes() == 0 || in_channels != layer.input.channels ||
      (layer.depthwise && layer.output.channels != layer.input.channels)) {
    return refuse(fmt::format("{}: wanted sizes that need no padding and one output a channel",
                              name(one.op)));
  }
  MYNAH_TRY(const int activation,
            byte_option(one, layer.depthwise ? kDepthwiseActivation : kConvActivation));
  return add_layer(one, std::move(layer), activation);
}

Status GraphPlan::add_product(const TfliteOperator& one) {
  if (one.inputs.size() < 2 || one.inputs[0] < 0 || one.inputs[1] < 0 || one.outputs.size() != 1) {
    return refuse("FULLY_CONNECTED: wanted an input and weights", ErrorCode::InvalidInput);
  }
  const std::vector<int32_t>& shape = tensor(one.inputs[1]).shape;
  if (shape.size() != 2 || tensor(one.inputs[0]).elements() != shape[1] ||
      tensor(one.outputs[0]).elements() != shape[0] || shape[0] < 1) {
    return refuse("FULLY_CONNECTED: wanted one row of inputs and a matrix that fits");
  }
  Convolution layer;
  layer.input = {.height = 1, .width = 1, .channels = static_cast<size_t>(shape[1])};
  layer.output = {.height = 1, .width = 1, .channels = static_cast<size_t>(shape[0])};
  MYNAH_TRY(const int activation, byte_option(one, kProductActivation));
  return add_layer(one, std::move(layer), activation);
}

Status GraphPlan::add_lookup(const TfliteOperator& one) {
  MYNAH_TRY_STATUS(wants(one, 1, 1));
  const TfliteTensor& from = tensor(one.inputs[0]);
  const TfliteTensor& to = tensor(one.outputs[0]);
  if (from.type != TfliteType::I8 || from.elements() != to.elements()) {
    return refuse(fmt::format("{}: wanted codes in int8, as many as before", name(one.op)));
  }
  MYNAH_TRY(const Scale input, scale_of(one.inputs[0]));
  MYNAH_TRY(const Scale output, scale_of(one.outputs[0]));
  const bool is_unsigned = to.type == TfliteType::U8;
  const int least = is_unsigned ? 0 : kLowestCode;
  const int most = least + kCodes - 1;
  const double ratio = input.scale / output.scale;
  if (one.op == TfliteOp::Quantize && !(ratio < kMostRatio)) {
    return refuse(
        fmt::format("QUANTIZE: wanted scales of a ratio below {}, found {}", kMostRatio, ratio));
  }
  const Ratio requantized = Ratio::of(ratio < kMostRatio ? ratio : 0);
  Lookup lookup{.bytes = static_cast<size_t>(from.elements())};
  for (int code = kLowestCode; code <= kHighestCode; ++code) {
    int64_t value = 0;
    if (one.op == TfliteOp::Quantize) {
      value = int64_t{requantized.times(code - input.zero, Halves::Up)} + output.zero;
    } else {
      // In floats, as its table is made there.
      const float number = static_cast<float>(input.scale) * static_cast<float>(code - input.zero);
      const float likely = 1.0F / (1.0F + std::exp(-number));
      const float steps = likely * (1.0F / static_cast<float>(output.scale));
      value = std::llround(std::min(steps, static_cast<float>(kCodes))) + output.zero;
    }
    lookup.codes[static_cast<size_t>(code - kLowestCode)] =
        static_cast<int8_t>(std::clamp<int64_t>(value, least, most));
  }
  MYNAH_TRY(lookup.from, read_place(one.inputs[0]));
  MYNAH_TRY(lookup.to, write_place(one.outputs[0]));
  network_.steps_.emplace_back(lookup);
  return {};
}

}  // namespace mynah::wake_word
