// A voice that hums: for tests of everything around a model.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "speech/voice_model.h"

namespace mynah::test {

// Each letter or digit hums for 10 ms, "_" is silent for as long; 50 ms of silence at both ends. It
// takes 40 characters at once. What it was given is kept.
class FakeVoice : public VoiceModel {
 public:
  static constexpr int kRate = 8000;
  static constexpr size_t kPhonemeSamples = 80;
  static constexpr size_t kEdgeSamples = 400;
  static constexpr size_t kMost = 40;
  static constexpr char kUnknownPhoneme = '%';  // the only one

  // `said` must outlive it.
  explicit FakeVoice(std::vector<std::string>& said) : said_(said) {}

  [[nodiscard]] std::string name() const override { return "fake"; }

  [[nodiscard]] int rate_hz() const override { return kRate; }

  [[nodiscard]] const std::vector<VoiceFacts>& voices() const override { return voices_; }

  [[nodiscard]] Result<VoiceFacts> find_voice(const std::string& voice) const override {
    if (voice.empty() || voice == "hum") {
      return voices_.front();
    }
    return fail(ErrorCode::NotFound, "fake has no voice '" + voice + "'");
  }

  [[nodiscard]] size_t most_phonemes() const override { return kMost; }

  [[nodiscard]] const PhonemeAlphabet& alphabet() const override { return alphabet_; }

  [[nodiscard]] const VoiceReading& reading() const override { return reading_; }

  [[nodiscard]] Result<ClauseSound> speak(std::span<const PhonemeWord> words,
                                          const VoiceSettings& settings) const override {
    ClauseSound sound;
    sound.samples.assign(kEdgeSamples, 0.0F);
    std::string text;
    for (const PhonemeWord& word : words) {
      sound.words.emplace_back();
      for (const char letter : word.phonemes) {
        const size_t begin = sound.samples.size();
        hum(sound.samples, letter,
            static_cast<size_t>(static_cast<float>(kPhonemeSamples) / settings.speed));
        sound.words.back().push_back({.symbol = std::string(1, letter),
                                      .span = {.begin = begin, .end = sound.samples.size()}});
      }
      text += word.phonemes + (word.space_after ? " " : "");
    }
    sound.samples.resize(sound.samples.size() + kEdgeSamples);
    said_.push_back(text);
    return sound;
  }

 private:
  // All of ASCII that can be seen but one.
  static PhonemeAlphabet all_but_one() {
    std::u32string characters;
    for (char32_t character = U' '; character <= U'~'; ++character) {
      if (character != static_cast<char32_t>(kUnknownPhoneme)) {
        characters += character;
      }
    }
    return PhonemeAlphabet(std::move(characters));
  }

  static void hum(std::vector<float>& samples, char letter, size_t count) {
    const bool loud = std::isalnum(static_cast<unsigned char>(letter)) != 0;
    for (size_t i = 0; i < count; ++i) {
      const double phase = 2 * std::numbers::pi * 200 * static_cast<double>(i) / kRate;
      samples.push_back(loud ? static_cast<float>(0.5 * std::cos(phase)) : 0.0F);
    }
  }

  std::vector<std::string>& said_;
  PhonemeAlphabet alphabet_ = all_but_one();
  VoiceReading reading_;
  std::vector<VoiceFacts> voices_ = {{.name = "hum", .language = "en-US", .sex = ""}};
};

}  // namespace mynah::test
