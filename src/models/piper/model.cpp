#include "models/piper/model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"

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

Result<Piper> Piper::load(const OnnxVoice& voice, Backend& backend, const WeightOptions& options) {
  const WeightOptions exact{
      .storage = DType::F32, .precision = Precision::Exact, .cache = options.cache};
  const Module fine(Weights(voice.tensors, voice.owner, backend, exact), voice.steps);
  const Module coarse(Weights(voice.tensors, voice.owner, backend, options), voice.steps);
  WeightOptions between = options;
  if (options.storage == DType::I8) {
    between.storage = DType::BF16;
  }
  const Module less_coarse(Weights(voice.tensors, voice.owner, backend, between), voice.steps);
  Piper model;
  model.backend_ = &backend;
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
            Generator::load(coarse / "dec", less_coarse / "dec", model.text_.latent(), of_speaker));
  return model;
}

Result<Speech> Piper::speak(std::span<const int32_t> ids, const SpeechSettings& settings) const {
  MYNAH_CHECK(!ids.empty() && *std::ranges::min_element(ids) >= 0 &&
                  *std::ranges::max_element(ids) < symbols(),
              "[piper] wants ids below ", std::to_string(symbols()));
  MYNAH_CHECK(settings.speaker >= 0 && settings.speaker < speakers_,
              "[piper] wants a speaker below ", std::to_string(speakers_));
  Backend& backend = *backend_;
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
  const Tensor samples = generator_(flow_(z, speaker), speaker);
  return Speech{.samples = ops::to_host(backend, samples), .frames = std::move(frames)};
}

}  // namespace mynah::piper
