#include "speech/synthesizer.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "speech/speech_session.h"
#include "speech/voice_loudness.h"

namespace mynah {
namespace {

// Slower, a vowel is a drone; faster, phonemes are shorter than their frames. The range.
constexpr float kSlowest = 0.25F;
constexpr float kFastest = 4.0F;
constexpr float kMostNoise = 10.0F;
constexpr float kMostGain = 10.0F;
constexpr double kMostSilence_s = 60;
// What is quieter is lost in 16 bits; what is louder is no speech any more, but a limiter.
constexpr double kQuietest_lufs = -50;
constexpr double kLoudest_lufs = -8;

Status check_range(std::string_view what, double value, double least, double most) {
  if (value >= least && value <= most) {
    return {};
  }
  return fail(ErrorCode::InvalidInput,
              fmt::format("{}: wanted {} to {}, found {:.6g}", what, least, most, value));
}

// A model that says nothing, and keeps what it was to say.
class Scribe final : public VoiceModel {
 public:
  explicit Scribe(const VoiceModel& model) : model_(model) {}

  [[nodiscard]] std::string name() const override { return model_.name(); }

  [[nodiscard]] int rate_hz() const override { return model_.rate_hz(); }

  [[nodiscard]] const std::vector<VoiceFacts>& voices() const override { return model_.voices(); }

  [[nodiscard]] Result<VoiceFacts> find_voice(const std::string& voice) const override {
    return model_.find_voice(voice);
  }

  [[nodiscard]] size_t most_phonemes() const override { return model_.most_phonemes(); }

  [[nodiscard]] const PhonemeAlphabet& alphabet() const override { return model_.alphabet(); }

  [[nodiscard]] const VoiceReading& reading() const override { return model_.reading(); }

  [[nodiscard]] Result<ClauseSound> speak(std::span<const PhonemeWord> words,
                                          const VoiceSettings& /*settings*/) const override {
    written_ += (written_.empty() ? "" : " ") + joined(words);
    return ClauseSound{.samples = {},
                       .words = std::vector<std::vector<PhonemeSound>>(words.size())};
  }

  [[nodiscard]] const std::string& written() const { return written_; }

 private:
  const VoiceModel& model_;
  mutable std::string written_;
};

class NobodyListens final : public SpeechObserver {
 public:
  Status on_clause(const SpokenClause& /*clause*/) override { return {}; }
};

}  // namespace

Synthesizer::Synthesizer(std::unique_ptr<const VoiceModel> model, PhonemizerSource phonemizers,
                         std::shared_ptr<VoiceLevels> levels)
    : model_(std::move(model)),
      phonemizers_(std::move(phonemizers)),
      loudness_(std::make_unique<VoiceLoudness>(*model_, phonemizers_, std::move(levels))) {}

Synthesizer::~Synthesizer() = default;

Result<VoiceFacts> Synthesizer::check(const SpeakOptions& options) const {
  MYNAH_TRY_STATUS(check_range("speed", options.voice.speed, kSlowest, kFastest));
  MYNAH_TRY_STATUS(check_range("volume", options.volume, 0, kMostGain));
  MYNAH_TRY_STATUS(check_range("loudness", options.loudness_lufs.value_or(kQuietest_lufs),
                               kQuietest_lufs, kLoudest_lufs));
  for (const auto& noise : {options.voice.noise_scale, options.voice.noise_w}) {
    MYNAH_TRY_STATUS(check_range("noise", noise.value_or(0.0F), 0, kMostNoise));
  }
  for (const double silence : {options.clause_silence_s, options.sentence_silence_s,
                               options.paragraph_silence_s, options.lead_silence_s}) {
    MYNAH_TRY_STATUS(check_range("silence", silence, 0, kMostSilence_s));
  }
  return model_->find_voice(options.voice.voice);
}

Result<std::unique_ptr<Synthesizer::Session>> Synthesizer::session(
    const SpeakOptions& options, SpeechObserver& observer, const std::stop_token& stop) const {
  MYNAH_TRY(VoiceFacts voice, check(options));
  if (options.kind != TextKind::Phonemes) {
    // A language that cannot be read is told before any text is.
    MYNAH_TRY_STATUS(phonemizers_(options.language.empty() ? voice.language : options.language));
  }
  return std::make_unique<SpeechSession>(*model_, phonemizers_, *loudness_, options,
                                         std::move(voice), observer, stop);
}

Status Synthesizer::measure(const std::string& voice) const {
  MYNAH_TRY_STATUS(loudness_->of(voice));
  return {};
}

Status Synthesizer::speak(std::string_view text, const SpeakOptions& options,
                          SpeechObserver& observer, const std::stop_token& stop) const {
  MYNAH_TRY(const auto speaking, session(options, observer, stop));
  MYNAH_TRY_STATUS(speaking->push(text));
  return speaking->finish();
}

Result<std::string> Synthesizer::phonemes(std::string_view text, SpeakOptions options,
                                          const std::stop_token& stop) const {
  if (model_->reading().by == ReadBy::Letters) {
    return fail(ErrorCode::Unsupported,
                model_->name() +
                    " reads letters: wanted a voice that reads phonemes, such as "
                    "Kokoro's");
  }
  MYNAH_TRY(VoiceFacts voice, check(options));
  options.loudness_lufs.reset();
  options.first_phonemes = 0;
  const Scribe scribe(*model_);
  NobodyListens observer;
  SpeechSession session(scribe, phonemizers_, *loudness_, std::move(options), std::move(voice),
                        observer, stop);
  MYNAH_TRY_STATUS(session.push(text));
  MYNAH_TRY_STATUS(session.finish());
  return scribe.written();
}

bool is_voice_file(std::string_view voice) {
  for (size_t at = voice.find('.'); at != std::string_view::npos; at = voice.find('.', at + 1)) {
    const bool in_number = at > 0 && at + 1 < voice.size() &&
                           is_ascii_digit(static_cast<unsigned char>(voice[at - 1])) &&
                           is_ascii_digit(static_cast<unsigned char>(voice[at + 1]));
    if (!in_number) {
      return true;
    }
  }
  return voice.contains('/');
}

}  // namespace mynah
