// Flite as a VoiceModel.
#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest_name.h"
#include "models/builtin/flite_voice.h"
#include "speech/synthesizer.h"

namespace mynah {
namespace {

constexpr int kFliteRate_hz = 16000;
// Characters of a clause; Flite itself has no limit.
constexpr size_t kMostCharacters = 600;

class BuiltinVoice final : public VoiceModel {
 public:
  BuiltinVoice() {
    for (const FliteVoice& voice : flite_voices()) {
      facts_.push_back(
          {.name = std::string(voice.name), .language = "en-US", .sex = std::string(voice.sex)});
    }
  }

  [[nodiscard]] std::string name() const override { return "builtin"; }

  [[nodiscard]] int rate_hz() const override { return kFliteRate_hz; }

  [[nodiscard]] const std::vector<VoiceFacts>& voices() const override { return facts_; }

  [[nodiscard]] Result<VoiceFacts> find_voice(const std::string& voice) const override {
    if (voice.empty()) {
      return facts_.front();
    }
    const auto found = std::ranges::find(facts_, voice, &VoiceFacts::name);
    if (found != facts_.end()) {
      return *found;
    }
    std::vector<std::string> names;
    std::ranges::transform(facts_, std::back_inserter(names), &VoiceFacts::name);
    return fail(ErrorCode::NotFound,
                fmt::format("the built-in model has no voice '{}'{}; it has {}", voice,
                            suggestion(voice, names), fmt::join(names, ", ")));
  }

  [[nodiscard]] size_t most_phonemes() const override { return kMostCharacters; }

  [[nodiscard]] const PhonemeAlphabet& alphabet() const override { return alphabet_; }

  [[nodiscard]] const VoiceReading& reading() const override { return reading_; }

  [[nodiscard]] Result<ClauseSound> speak(std::span<const PhonemeWord> words,
                                          const VoiceSettings& settings) const override;

 private:
  std::vector<VoiceFacts> facts_;
  PhonemeAlphabet alphabet_ = PhonemeAlphabet::any();
  VoiceReading reading_{.by = ReadBy::Letters, .language = "en-US", .espeak_voice = {}};
};

Result<ClauseSound> BuiltinVoice::speak(std::span<const PhonemeWord> words,
                                        const VoiceSettings& settings) const {
  MYNAH_TRY(const VoiceFacts voice, find_voice(settings.voice));
  std::string text;
  std::vector<size_t> run_words;  // the word that each run between white space begins with
  bool in_run = false;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i].phonemes;
    if (!in_run && !word.empty()) {
      run_words.push_back(i);
      in_run = true;
    }
    text += word;
    if (words[i].space_after) {
      text += ' ';
      in_run = false;
    }
  }
  ClauseSound sound;
  sound.words.resize(words.size());
  MYNAH_TRY(FliteSpeech speech, speak_with_flite(text, voice.name, 1.0F / settings.speed));
  if (!speech.samples.empty() && speech.rate_hz != kFliteRate_hz) {
    return fail(ErrorCode::Environment,
                fmt::format("wanted a voice of flite's with {} samples a second, found {}",
                            kFliteRate_hz, speech.rate_hz));
  }
  sound.samples = std::move(speech.samples);
  for (FlitePhone& phone : speech.phones) {
    if (phone.word < run_words.size()) {
      sound.words[run_words[phone.word]].push_back(
          {.symbol = std::move(phone.name), .span = {.begin = phone.begin, .end = phone.end}});
    }
  }
  return sound;
}

}  // namespace

std::unique_ptr<const VoiceModel> builtin_voice() {
  return std::make_unique<const BuiltinVoice>();
}

}  // namespace mynah
