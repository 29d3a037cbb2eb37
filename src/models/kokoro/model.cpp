#include "models/kokoro/model.h"

#include <chrono>
#include <utility>

#include "base/check.h"

namespace mynah::kokoro {

namespace {

// Tells stages apart by the time that their results are there.
class StageClock {
 public:
  // Of work on this backend.
  void end(Backend& backend, std::string_view stage) {
    backend.synchronize();
    const auto now = std::chrono::steady_clock::now();
    times_.push_back({stage, std::chrono::duration<double>(now - begin_).count()});
    begin_ = now;
  }

  [[nodiscard]] std::vector<StageTime> times() && { return std::move(times_); }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::vector<StageTime> times_;
};

}  // namespace

Result<Kokoro> Kokoro::load(const Weights& acoustic, const Weights& vocoder) {
  Kokoro model;
  model.acoustic_ = &acoustic.backend();
  model.vocoder_ = &vocoder.backend();
  MYNAH_TRY(const Sizes sizes, read_sizes(acoustic));
  model.sizes_ = sizes;
  // A duration is rounded to whole frames: any less precise, some would come out another. An error
  // of pitch grows from sample to sample.
  const Weights exact = acoustic.as(
      std::nullopt, acoustic.precision() == Precision::Fast ? Precision::Close : Precision::Exact);
  MYNAH_TRY(model.albert_, Albert::load(exact / "bert", sizes));
  MYNAH_TRY(model.prosodic_,
            Linear::load(exact / "bert_encoder", {.in = sizes.width, .out = sizes.hidden}));
  MYNAH_TRY(model.durations_, DurationPredictor::load(exact / "predictor", sizes));
  MYNAH_TRY(model.melody_, MelodyPredictor::load(exact / "predictor", sizes));
  MYNAH_TRY(model.text_, TextEncoder::load(acoustic / "text_encoder", sizes));
  MYNAH_TRY(model.decoder_, Decoder::load(vocoder / "decoder", sizes));
  MYNAH_TRY(model.generator_, Generator::load(vocoder / "decoder.generator", sizes));
  return model;
}

Speech Kokoro::speak(std::span<const int32_t> ids, std::span<const float> style,
                     float speed) const {
  MYNAH_CHECK(!ids.empty() && std::ssize(ids) <= kMostPhonemes, "[kokoro] wants 1 to 510 phonemes");
  MYNAH_CHECK(std::ssize(style) == 2 * sizes_.style && speed > 0.0F,
              "[kokoro] wants both halves of a style and a speed above 0");
  Backend& acoustic = *acoustic_;
  Backend& vocoder = *vocoder_;
  constexpr int32_t kPause = 0;
  std::vector<int32_t> all{kPause};
  all.insert(all.end(), ids.begin(), ids.end());
  all.push_back(kPause);
  const Tensor timbre = ops::from_host(vocoder, style.first(style.size() / 2), {1, sizes_.style});
  const Tensor prosodic = ops::from_host(acoustic, style.last(style.size() / 2), {1, sizes_.style});

  StageClock clock;
  const Tensor heard = prosodic_(albert_(all, {std::ssize(all)}));
  clock.end(acoustic, "albert");
  Prosody prosody = durations_(heard, prosodic, speed);
  clock.end(acoustic, "durations");
  const std::vector<int32_t> phonemes = phonemes_of(prosody.frames);
  const Tensor rows =
      ops::from_host(acoustic, std::span<const int32_t>(phonemes), {std::ssize(phonemes)});
  Melody melody = melody_(ops::gather_rows(acoustic, prosody.x, rows), prosodic);
  clock.end(acoustic, "melody");
  Tensor text = ops::gather_rows(acoustic, text_(all), rows);
  text = ops::hand_over(acoustic, vocoder, text);
  melody = {.pitch = ops::hand_over(acoustic, vocoder, melody.pitch),
            .energy = ops::hand_over(acoustic, vocoder, melody.energy)};
  clock.end(acoustic, "text");
  const Tensor sung = decoder_(text, melody, timbre);
  clock.end(vocoder, "decoder");
  const Tensor harmonics = generator_.harmonics(melody.pitch);
  clock.end(vocoder, "harmonics");
  const Tensor spectrum = generator_.spectrum(sung, harmonics, timbre);
  clock.end(vocoder, "generator");
  std::vector<float> samples = ops::to_host(vocoder, generator_.samples(spectrum));
  clock.end(vocoder, "samples");
  return {.samples = std::move(samples),
          .frames = std::move(prosody.frames),
          .stages = std::move(clock).times()};
}

}  // namespace mynah::kokoro
