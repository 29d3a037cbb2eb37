#include "speech/synthesizer.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

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

}  // namespace mynah
