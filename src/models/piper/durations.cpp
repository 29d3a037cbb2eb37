#include "models/piper/durations.h"

#include <array>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "models/piper/spline.h"

namespace mynah::piper {

namespace {

constexpr int64_t kChannels = 2;  // of the flow: the logarithm and what was added to train it

}  // namespace

Result<SeparableStack> SeparableStack::load(const Module& m, int64_t width) {
  SeparableStack stack;
  stack.backend_ = &m.weights().backend();
  const int64_t layers = (m / "convs_sep").count("weight");
  for (int64_t i = 0; i < layers; ++i) {
    Layer& layer = stack.layers_.emplace_back();
    MYNAH_TRY(layer.along, (m / "convs_sep" / i).conv({.in = width, .out = width}));
    MYNAH_TRY(layer.along_norm, LayerNorm::load((m / "norms_1" / i).weights(), width));
    MYNAH_TRY(layer.across, (m / "convs_1x1" / i).conv({.in = width, .out = width}));
    MYNAH_TRY(layer.across_norm, LayerNorm::load((m / "norms_2" / i).weights(), width));
  }
  return stack;
}

Tensor SeparableStack::operator()(Tensor x) const {
  Backend& backend = *backend_;
  const Lengths sentence{x.dim(0)};
  for (const Layer& layer : layers_) {
    const Tensor along = ops::gelu(backend, layer.along_norm(layer.along(x, sentence)));
    const Tensor across = ops::gelu(backend, layer.across_norm(layer.across(along, sentence)));
    x = ops::add(backend, x, across);
  }
  return x;
}

Result<DurationPredictor> DurationPredictor::load(const Module& m, int64_t width,
                                                  int64_t of_speaker) {
  DurationPredictor predictor;
  predictor.backend_ = &m.weights().backend();
  predictor.stochastic_ = !m.has("conv_1");
  if (predictor.stochastic_) {
    MYNAH_TRY_STATUS(predictor.load_flow(m, width));
  } else {
    MYNAH_TRY_STATUS(predictor.load_plain(m, width));
  }
  if (of_speaker > 0) {
    const int64_t out = predictor.stochastic_ ? predictor.width_ : width;
    MYNAH_TRY(predictor.speaker_, (m / "cond").conv({.in = of_speaker, .out = out}));
  }
  return predictor;
}

Status DurationPredictor::load_flow(const Module& m, int64_t width) {
  MYNAH_TRY(in_, (m / "pre").conv({.in = width}));
  MYNAH_TRY(width_, (m / "pre").out_features());
  MYNAH_TRY(stack_, SeparableStack::load(m / "convs", width_));
  MYNAH_TRY(seen_, (m / "proj").conv({.in = width_, .out = width_}));
  // Layers 1, 3, 5, ... of the checkpoint, between which the two channels change places; they run
  // from the last to the second, the first is left out (models.py, StochasticDurationPredictor).
  constexpr int64_t kFirst = 3;
  int64_t last = kFirst;
  while ((m / "flows" / last).has("pre")) {
    last += 2;
  }
  for (int64_t i = last - 2; i >= kFirst; i -= 2) {
    const Module layer = m / "flows" / i;
    Coupling& coupling = couplings_.emplace_back();
    MYNAH_TRY(coupling.widen, (layer / "pre").conv({.in = 1, .out = width_}));
    MYNAH_TRY(coupling.stack, SeparableStack::load(layer / "convs", width_));
    MYNAH_TRY(coupling.spline, (layer / "proj").conv({.in = width_}));
    MYNAH_TRY(const int64_t numbers, (layer / "proj").out_features());
    coupling.bins = (numbers + 1) / 3;
    constexpr int64_t kMostBins = 256;
    if (numbers != 3 * coupling.bins - 1 || coupling.bins < 2 || coupling.bins > kMostBins) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("dp: wanted 3 bins - 1 numbers of a spline, found {}", numbers));
    }
  }
  const Weights affine = (m / "flows" / 0).weights();
  for (const auto& [name, target] : {std::pair{"m", &affine_.mean}, {"scale", &affine_.scale}}) {
    MYNAH_TRY(const Tensor values, affine.get(name, {kChannels, 1}));
    *target = ops::to_host(*backend_, values);
  }
  return {};
}

Status DurationPredictor::load_plain(const Module& m, int64_t width) {
  MYNAH_TRY(first_, (m / "conv_1").conv({.in = width}));
  MYNAH_TRY(width_, (m / "conv_1").out_features());
  MYNAH_TRY(first_norm_, LayerNorm::load((m / "norm_1").weights(), width_));
  MYNAH_TRY(second_, (m / "conv_2").conv({.in = width_, .out = width_}));
  MYNAH_TRY(second_norm_, LayerNorm::load((m / "norm_2").weights(), width_));
  MYNAH_TRY(out_, (m / "proj").conv({.in = width_, .out = 1}));
  return {};
}

std::vector<float> DurationPredictor::operator()(const Tensor& x, const Tensor& speaker,
                                                 NormalNoise& noise, float noise_scale) const {
  Backend& backend = *backend_;
  const int64_t phonemes = x.dim(0);
  const Lengths sentence{phonemes};
  const auto with_speaker = [&](const Tensor& rows) {
    return speaker.defined()
               ? ops::add(backend, rows, speaker_(speaker, Lengths{1}).reshape({rows.dim(1)}))
               : rows;
  };
  if (!stochastic_) {
    Tensor own = first_norm_(first_(with_speaker(x), sentence, {.activation = Activation::Relu}));
    own = second_norm_(second_(own, sentence, {.activation = Activation::Relu}));
    return ops::to_host(backend, out_(own, sentence));
  }
  const Tensor seen = seen_(stack_(with_speaker(in_(x, sentence))), sentence);
  const auto count = static_cast<size_t>(phonemes);
  const std::vector<float> both = noise.next(kChannels * count, noise_scale);
  std::array<std::vector<float>, kChannels> channels;
  for (size_t i = 0; i < channels.size(); ++i) {
    const auto begin = both.begin() + static_cast<std::ptrdiff_t>(i * count);
    channels[i].assign(begin, begin + static_cast<std::ptrdiff_t>(count));
  }
  for (const Coupling& coupling : couplings_) {
    std::swap(channels[0], channels[1]);
    transform(coupling, seen, channels[0], channels[1]);
  }
  std::swap(channels[0], channels[1]);
  for (float& value : channels[0]) {
    value = (value - affine_.mean[0]) * affine_.scale[0];
  }
  return channels[0];
}

void DurationPredictor::transform(const Coupling& coupling, const Tensor& seen,
                                  const std::vector<float>& by, std::vector<float>& values) const {
  Backend& backend = *backend_;
  const auto phonemes = std::ssize(values);
  const Lengths sentence{phonemes};
  const Tensor widened =
      coupling.widen(ops::from_host(backend, std::span<const float>(by), {phonemes, 1}), sentence);
  std::vector<float> numbers = ops::to_host(
      backend, coupling.spline(coupling.stack(ops::add(backend, widened, seen)), sentence));
  const auto bins = static_cast<size_t>(coupling.bins);
  const size_t per_phoneme = 3 * bins - 1;
  const float scale = 1.0F / std::sqrt(static_cast<float>(width_));
  for (size_t i = 0; i < values.size(); ++i) {
    const std::span<float> own = std::span(numbers).subspan(i * per_phoneme, per_phoneme);
    for (float& number : own.first(2 * bins)) {
      number *= scale;
    }
    values[i] = static_cast<float>(inverse_spline(static_cast<double>(values[i]), own.first(bins),
                                                  own.subspan(bins, bins), own.last(bins - 1)));
  }
}

}  // namespace mynah::piper
