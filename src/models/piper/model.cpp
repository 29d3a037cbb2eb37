#include "models/piper/model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "tensor/device_error.h"

namespace mynah::piper {

namespace {

// Of a sentence, at most: three minutes in the voices that there are. What is beyond comes of
// damaged numbers, and would take all memory.
constexpr int64_t kMostFrames = 16384;

// Numbers of frames, rounded up (models.py, SynthesizerTrn.infer).
Result<std::vector<int32_t>> frames_of(std::span<const float> logarithms, float length_scale) {
  std::vector<int32_t> frames;
  frames.reserve(logarithms.size());
  int64_t total = 0;
  for (const float logarithm : logarithms) {
    if (!std::isfinite(logarithm)) {
      throw DeviceError({.code = ErrorCode::Device,
                         .message = "a phoneme's duration is no number: the device, or the voice's "
                                    "file, is damaged"});
    }
    const float exact = std::ceil(std::exp(logarithm) * length_scale);
    if (!(exact <= static_cast<float>(kMostFrames - total))) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("wanted a sentence of at most {} frames, found a phoneme of {} after "
                              "{}: the text is too long, the speed too low, or the voice damaged",
                              kMostFrames, exact, total));
    }
    frames.push_back(static_cast<int32_t>(exact));
    total += frames.back();
  }
  // Never no sound at all.
  frames.back() += total == 0 ? 1 : 0;
  return frames;
}

}  // namespace

Result<Piper> Piper::load(const OnnxVoice& voice, const StageWeights& acoustic,
                          const StageWeights& vocoder) {
  const auto module = [&voice](const StageWeights& stage, const WeightOptions& options) {
    return Module(Weights(voice.tensors, voice.owner, *stage.backend, options), voice.steps);
  };
  const Module fine = module(
      acoustic,
      {.storage = DType::F32, .precision = Precision::Exact, .cache = acoustic.options.cache});
  const Module coarse = module(acoustic, acoustic.options);
  const Module sound = module(vocoder, vocoder.options);
  WeightOptions between = vocoder.options;
  if (between.storage == DType::I8) {
    between.storage = DType::BF16;
  }
  const Module less_coarse = module(vocoder, between);
  Piper model;
  model.acoustic_ = acoustic.backend;
  model.vocoder_ = vocoder.backend;
  int64_t of_speaker = 0;
  if (fine.has("emb_g")) {
    MYNAH_TRY(const Shape table, fine.shape("emb_g.weight", 2));
    MYNAH_TRY(model.speaker_table_, fine.weights().get("emb_g.weight", table));
    model.speakers_ = table[0];
    of_speaker = table[1];
  }
  MYNAH_TRY(model.text_, TextEncoder::load(fine / "enc_p"));
  MYNAH_TRY(model.durations_,
            DurationPredictor::load(fine / "dp", model.text_.width(), of_speaker));
  MYNAH_TRY(model.flow_, Flow::load(coarse / "flow", model.text_.latent(), of_speaker));
  MYNAH_TRY(model.generator_,
            Generator::load(sound / "dec", less_coarse / "dec", model.text_.latent(), of_speaker));
  return model;
}

Result<Speech> Piper::speak(std::span<const int32_t> ids, const SpeechSettings& settings) const {
  MYNAH_CHECK(!ids.empty() && *std::ranges::min_element(ids) >= 0 &&
                  *std::ranges::max_element(ids) < symbols(),
              "[piper] wants ids below ", std::to_string(symbols()));
  MYNAH_CHECK(settings.speaker >= 0 && settings.speaker < speakers_,
              "[piper] wants a speaker below ", std::to_string(speakers_));
  Backend& backend = *acoustic_;
  NormalNoise noise(settings.seed);
  const Tensor speaker =
      speaker_table_.defined()
          ? ops::contiguous(backend, speaker_table_.narrow(0, settings.speaker, 1))
          : Tensor();
  const TextEncoder::Encoded text = text_(ids);
  MYNAH_TRY(std::vector<int32_t> frames,
            frames_of(durations_(text.x, speaker, noise, settings.noise_w), settings.length_scale));
  std::vector<int32_t> rows;
  for (size_t i = 0; i < frames.size(); ++i) {
    rows.insert(rows.end(), static_cast<size_t>(frames[i]), static_cast<int32_t>(i));
  }
  const Tensor places = ops::from_host(backend, std::span<const int32_t>(rows), {std::ssize(rows)});
  Tensor z = ops::gather_rows(backend, text.mean, places);
  if (settings.noise_scale != 0.0F) {
    const std::vector<float> numbers =
        noise.next(rows.size() * static_cast<size_t>(text_.latent()), settings.noise_scale);
    const Tensor deviation = ops::exp(backend, ops::gather_rows(backend, text.logarithm, places));
    z = ops::add(
        backend, z,
        ops::mul(backend, ops::from_host(backend, std::span<const float>(numbers), z.shape()),
                 deviation));
  }
  const auto to_vocoder = [this](const Tensor& x) {
    return ops::hand_over(*acoustic_, *vocoder_, x);
  };
  const Tensor samples = generator_(to_vocoder(flow_(z, speaker)), to_vocoder(speaker));
  return Speech{.samples = ops::to_host(*vocoder_, samples), .frames = std::move(frames)};
}

}  // namespace mynah::piper
