#include "models/hibari/model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "models/hibari/fourier.h"
#include "nn/beside.h"
#include "tensor/device_error.h"

namespace mynah::hibari {

namespace {

// A minute and a half: what is beyond comes of damaged numbers or an absurd speed.
constexpr int64_t kMostUnits = 4096;
constexpr int64_t kMelodyChannels = 4;  // pitch and loudness of a unit's two frames

Result<int64_t> passes_of(const OnnxWeights& weights, std::string_view encoder) {
  const auto found = weights.passes.find(encoder);
  if (found == weights.passes.end()) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("wanted attention in {}, found none in the graph", encoder));
  }
  return found->second;
}

Result<int64_t> size_of(const Weights& w, std::string_view tensor, int dimension) {
  MYNAH_TRY(const Shape shape, w.shape(tensor));
  if (shape.rank() <= dimension) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted more dimensions than {}", tensor, shape.str()));
  }
  return shape[dimension];
}

// (rows, 2): the pitch's logarithm and the loudness, as the decoder was trained with them.
std::vector<float> conditions(std::span<const float> melody) {
  std::vector<float> values;
  constexpr size_t kUnit = kMelodyChannels;
  for (size_t unit = 0; unit * kUnit < melody.size(); ++unit) {
    for (size_t half = 0; half < 2; ++half) {
      const float pitch = 100.0F * melody[unit * kUnit + half];
      values.push_back(std::log(1.0F + std::max(pitch, 0.0F)) / 5.0F);
      values.push_back(melody[unit * kUnit + 2 + half]);
    }
  }
  return values;
}

Result<std::vector<int32_t>> units_of(std::span<const float> logarithms, float speed) {
  std::vector<int32_t> units;
  int64_t total = 0;
  for (const float logarithm : logarithms) {
    if (!std::isfinite(logarithm)) {
      throw DeviceError({.code = ErrorCode::Device,
                         .message = "a phoneme's duration is no number: the device, or the voice's "
                                    "file, is damaged"});
    }
    // To the nearest, ties to even, as ONNX's Round.
    const float exact = std::max(1.0F, std::nearbyint((std::exp(logarithm) - 1.0F) / speed));
    if (!(exact <= static_cast<float>(kMostUnits - total))) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("wanted a sentence of at most {} units of 25 ms, found a phoneme of "
                              "{} after {}: the text is too long, the speed too low, or the voice "
                              "damaged",
                              kMostUnits, exact, total));
    }
    units.push_back(static_cast<int32_t>(exact));
    total += units.back();
  }
  return units;
}

}  // namespace

Result<Hibari> Hibari::load(const OnnxWeights& weights, const StageWeights& acoustic,
                            const StageWeights& vocoder) {
  const auto as = [&weights](const StageWeights& stage, const WeightOptions& options) {
    return Weights(weights.tensors, weights.owner, *stage.backend, options);
  };
  const Weights fine =
      as(acoustic,
         {.storage = DType::F32, .precision = Precision::Exact, .cache = acoustic.options.cache});
  const Weights coarse = as(acoustic, acoustic.options);
  const Weights of_sound = as(vocoder, vocoder.options);
  Hibari model;
  model.acoustic_ = acoustic.backend;
  model.vocoder_ = vocoder.backend;
  MYNAH_TRY(const int64_t melody_passes, passes_of(weights, "pn.text"));
  MYNAH_TRY(model.melody_text_,
            TextEncoder::load(fine, "pn.text", melody_passes, weights.dilations));
  const int64_t melody = model.melody_text_.width();
  MYNAH_TRY(
      model.duration_,
      Conv1d::load(fine / "pn.dur.0", {.in = melody, .out = melody, .kernel = 3, .padding = 1}));
  MYNAH_TRY(model.duration_out_, Conv1d::load(fine / "pn.dur.2", {.in = melody, .out = 1}));
  MYNAH_TRY(model.melody_in_, Conv1d::load(coarse / "pn.pro_in", {.in = melody, .out = melody}));
  MYNAH_TRY(model.melody_, ConvBlock::load_all(coarse, "pn.pro", melody, weights.dilations));
  MYNAH_TRY(model.melody_out_,
            Conv1d::load(fine / "pn.pro_out", {.in = melody, .out = kMelodyChannels}));
  MYNAH_TRY(const int64_t passes, passes_of(weights, "m.text"));
  MYNAH_TRY(model.text_, TextEncoder::load(of_sound, "m.text", passes, weights.dilations));
  MYNAH_TRY(const int64_t sound, size_of(of_sound, "m.dec_in.weight", 0));
  MYNAH_TRY(const int64_t kernel, size_of(of_sound, "m.dec_in.weight", 2));
  MYNAH_TRY(model.sound_in_, Conv1d::load(of_sound / "m.dec_in", {.in = model.text_.width() + 2,
                                                                  .out = sound,
                                                                  .kernel = kernel,
                                                                  .padding = kernel / 2}));
  MYNAH_TRY(model.sound_, ConvBlock::load_all(of_sound, "m.dec", sound, weights.dilations));
  MYNAH_TRY(model.sound_norm_, LayerNorm::load(of_sound / "m.dec_norm", sound));
  MYNAH_TRY(model.sound_out_,
            Linear::load(of_sound / "m.head",
                         {.in = sound, .out = static_cast<int64_t>(kPartsOfSpectrum * kBins)}));
  if (kernel % 2 == 0 || model.melody_text_.symbols() != model.text_.symbols()) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("wanted an odd kernel and two tables of one alphabet, found {}, {} and "
                            "{}",
                            kernel, model.melody_text_.symbols(), model.text_.symbols()));
  }
  return model;
}

Result<Drawing> Hibari::draw(std::span<const int32_t> ids, float speed) const {
  MYNAH_CHECK(!ids.empty() && std::ssize(ids) <= kMostPhonemes &&
                  *std::ranges::min_element(ids) >= 0 &&
                  *std::ranges::max_element(ids) < symbols() && speed > 0.0F,
              "[hibari] wants 1 to 400 phonemes and a speed above 0");
  Backend& acoustic = *acoustic_;
  Backend& vocoder = *vocoder_;
  constexpr int32_t kPause = 0;
  std::vector<int32_t> all{kPause};
  all.insert(all.end(), ids.begin(), ids.end());
  all.push_back(kPause);
  const Lengths sentence{std::ssize(all)};
  const Tensor heard = melody_text_(all);
  const Tensor durations =
      duration_out_(duration_(heard, sentence, {.activation = Activation::Gelu}), sentence);
  MYNAH_TRY(std::vector<int32_t> units, units_of(ops::to_host(acoustic, durations), speed));
  std::vector<int32_t> rows;       // of each unit
  std::vector<int32_t> both_rows;  // of each of its frames
  for (size_t i = 0; i < units.size(); ++i) {
    rows.insert(rows.end(), static_cast<size_t>(units[i]), static_cast<int32_t>(i));
    both_rows.insert(both_rows.end(), 2 * static_cast<size_t>(units[i]), static_cast<int32_t>(i));
  }
  const auto chosen = [](Backend& backend, const Tensor& x, const std::vector<int32_t>& places) {
    return ops::gather_rows(
        backend, x,
        ops::from_host(backend, std::span<const int32_t>(places), {std::ssize(places)}));
  };
  const Lengths of_units{std::ssize(rows)};
  Tensor melody = melody_in_(chosen(acoustic, heard, rows), of_units);
  for (const ConvBlock& block : melody_) {
    melody = block(melody);
  }
  const std::vector<float> curves = ops::to_host(acoustic, melody_out_(melody, of_units));
  const std::vector<float> conditioned = conditions(curves);
  const Lengths of_frames{std::ssize(both_rows)};
  Tensor sound =
      beside(vocoder, std::array{chosen(vocoder, text_(all), both_rows),
                                 ops::from_host(vocoder, std::span<const float>(conditioned),
                                                {of_frames.total(), 2})});
  sound = sound_in_(sound, of_frames);
  for (const ConvBlock& block : sound_) {
    sound = block(sound);
  }
  Drawing drawing{.units = std::move(units),
                  .pitch = {},
                  .spectra = ops::to_host(vocoder, sound_out_(sound_norm_(sound)))};
  for (size_t unit = 0; unit < rows.size(); ++unit) {
    for (size_t half = 0; half < 2; ++half) {
      drawing.pitch.push_back(100.0F * curves[unit * kMelodyChannels + half]);
    }
  }
  return drawing;
}

Result<Speech> Hibari::speak(std::span<const int32_t> ids, const SpeechSettings& settings) const {
  MYNAH_TRY(Drawing drawing, draw(ids, settings.speed));
  NormalNoise noise(settings.seed);
  return Speech{
      .samples = synthesise(*vocoder_, drawing.spectra, drawing.pitch, noise, settings.noise_scale),
      .units = std::move(drawing.units)};
}

}  // namespace mynah::hibari
