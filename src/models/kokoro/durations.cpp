#include "models/kokoro/durations.h"

#include <algorithm>
#include <cmath>

#include "nn/beside.h"
#include "tensor/device_error.h"

namespace mynah::kokoro {

namespace {

// config.json of hexgrad/Kokoro-82M, "max_dur": a phoneme's duration is the sum of so many numbers
// between 0 and 1.
constexpr int64_t kMostFrames = 50;

}  // namespace

std::vector<int32_t> phonemes_of(std::span<const int32_t> frames) {
  std::vector<int32_t> phonemes;
  for (size_t i = 0; i < frames.size(); ++i) {
    phonemes.insert(phonemes.end(), static_cast<size_t>(frames[i]), static_cast<int32_t>(i));
  }
  return phonemes;
}

Result<DurationPredictor> DurationPredictor::load(const Weights& w, const Sizes& sizes) {
  DurationPredictor predictor;
  predictor.backend_ = &w.backend();
  const BiLstm::Sizes lstm{.in = sizes.hidden + sizes.style, .hidden = sizes.hidden / 2};
  const Weights encoder = w / "text_encoder.lstms";
  for (size_t i = 0; i < predictor.layers_.size(); ++i) {
    const auto place = static_cast<int64_t>(2 * i);
    MYNAH_TRY(predictor.layers_[i].lstm, BiLstm::load(encoder / place, lstm));
    MYNAH_TRY(predictor.layers_[i].factors,
              StyleFactors::load(encoder / (place + 1), sizes.hidden, sizes.style));
  }
  MYNAH_TRY(predictor.lstm_, BiLstm::load(w / "lstm", lstm));
  MYNAH_TRY(predictor.duration_, Linear::load(w / "duration_proj.linear_layer",
                                              {.in = sizes.hidden, .out = kMostFrames}));
  return predictor;
}

Tensor DurationPredictor::with_style(const Tensor& x, const Tensor& style) const {
  const int64_t rows = x.dim(0);
  const std::vector<int32_t> first(static_cast<size_t>(rows), 0);
  const Tensor styles = ops::gather_rows(
      *backend_, style, ops::from_host(*backend_, std::span<const int32_t>(first), {rows}));
  return beside(*backend_, std::array{x, styles});
}

Prosody DurationPredictor::operator()(const Tensor& x, const Tensor& style, float speed) const {
  Backend& backend = *backend_;
  const Lengths sentence{x.dim(0)};
  Tensor heard = with_style(x, style);
  for (const Layer& layer : layers_) {
    const auto [gamma, beta] = layer.factors(style);
    heard = with_style(
        ops::layer_norm(backend, layer.lstm(heard, sentence), gamma.reshape({gamma.elements()}),
                        beta.reshape({beta.elements()})),
        style);
  }
  const Tensor durations =
      ops::sum(backend, ops::sigmoid(backend, duration_(lstm_(heard, sentence))));
  Prosody prosody{.x = heard, .frames = {}};
  for (const float frames : ops::to_host(backend, durations)) {
    if (!std::isfinite(frames)) {
      throw DeviceError({.code = ErrorCode::Device,
                         .message = backend.device().str() +
                                    ": a phoneme's duration is no number: the device, or the "
                                    "model's file, is damaged"});
    }
    // To the nearest, ties to even, as torch.round.
    prosody.frames.push_back(std::max(1, static_cast<int32_t>(std::nearbyint(frames / speed))));
  }
  return prosody;
}

}  // namespace mynah::kokoro
