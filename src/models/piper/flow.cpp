#include "models/piper/flow.h"

#include <fmt/format.h>

namespace mynah::piper {

namespace {}  // namespace

Result<Flow> Flow::load(const Module& m, int64_t latent, int64_t of_speaker) {
  Flow flow;
  flow.backend_ = &m.weights().backend();
  flow.latent_ = latent;
  // Layers 0, 2, 4, ... of the checkpoint; the odd ones reverse the channels.
  int64_t last = 0;
  while ((m / "flows" / last).has("pre")) {
    last += 2;
  }
  if (last == 0 || last % 4 != 0 || latent % 2 != 0) {
    return fail(
        ErrorCode::Unsupported,
        fmt::format("flow: wanted an even number of layers over an even number of channels, "
                    "found {} over {}",
                    last / 2, latent));
  }
  MYNAH_TRY(flow.width_, (m / "flows" / 0 / "pre").out_features());
  for (int64_t i = last - 2; i >= 0; i -= 2) {
    MYNAH_TRY(Layer layer, load_layer(m / "flows" / i, latent / 2, flow.width_, of_speaker));
    flow.layers_.push_back(std::move(layer));
  }
  return flow;
}

Result<Flow::Layer> Flow::load_layer(const Module& m, int64_t half, int64_t width,
                                     int64_t of_speaker) {
  Layer layer;
  const Module inner = m / "enc";
  MYNAH_TRY(layer.in, (m / "pre").conv({.in = half, .out = width}));
  const int64_t count = (inner / "in_layers").count("weight");
  for (int64_t i = 0; i < count; ++i) {
    const bool last = i == count - 1;
    Gates gates{.in = {}, .out = {}, .last = last};
    MYNAH_TRY(gates.in, (inner / "in_layers" / i).conv({.in = width, .out = 2 * width}));
    MYNAH_TRY(gates.out,
              (inner / "res_skip_layers" / i).conv({.in = width, .out = last ? width : 2 * width}));
    layer.gates.push_back(std::move(gates));
  }
  if (count == 0) {
    return fail(ErrorCode::InvalidInput, "flow: wanted gated convolutions, found none");
  }
  if (of_speaker > 0) {
    MYNAH_TRY(layer.speaker,
              (inner / "cond_layer").conv({.in = of_speaker, .out = 2 * width * count}));
  }
  // Means alone: Piper trains its flow without deviations.
  MYNAH_TRY(layer.out, (m / "post").conv({.in = width, .out = half}));
  return layer;
}

// What one half tells to take from the other.
Tensor Flow::shift(const Layer& layer, const Tensor& half, const Tensor& speaker) const {
  Backend& backend = *backend_;
  const Lengths sentence{half.dim(0)};
  Tensor x = layer.in(half, sentence);
  const Tensor heard = speaker.defined() ? layer.speaker(speaker, Lengths{1}) : Tensor();
  Tensor sum;
  for (size_t i = 0; i < layer.gates.size(); ++i) {
    const Gates& gates = layer.gates[i];
    Tensor both = gates.in(x, sentence);
    if (heard.defined()) {
      const auto begin = static_cast<int64_t>(i) * 2 * width_;
      both = ops::add(backend, both, heard.reshape({heard.dim(1)}).narrow(0, begin, 2 * width_));
    }
    const Tensor gated = ops::mul(backend, ops::tanh(backend, both.narrow(1, 0, width_)),
                                  ops::sigmoid(backend, both.narrow(1, width_, width_)));
    const Tensor out = gates.out(gated, sentence);
    if (!gates.last) {
      x = ops::add(backend, x, out.narrow(1, 0, width_));
    }
    const Tensor skipped = gates.last ? out : out.narrow(1, width_, width_);
    sum = sum.defined() ? ops::add(backend, sum, skipped) : skipped;
  }
  return layer.out(sum, sentence);
}

Tensor Flow::operator()(const Tensor& z, const Tensor& speaker) const {
  const int64_t half = latent_ / 2;
  const Tensor result = ops::copy(*backend_, z);
  // The halves take turns, the second first, since the channels are reversed before each layer.
  bool second = true;
  for (const Layer& layer : layers_) {
    const Tensor by = result.narrow(1, second ? half : 0, half);
    const Tensor other = result.narrow(1, second ? 0 : half, half);
    ops::copy_into(*backend_, ops::sub(*backend_, other, shift(layer, by, speaker)), other);
    second = !second;
  }
  return result;
}

}  // namespace mynah::piper
