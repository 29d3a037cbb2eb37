// Who speaks a text whose language is not the voice's that was chosen.
#include "speech/voice_choice.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fake_voice.h"
#include "speech/synthesizer.h"
#include "text/phonemes/written_words.h"

namespace mynah {
namespace {

// Speaks three languages, a voice each, by phonemes.
class ThreeVoices final : public test::FakeVoice {
 public:
  using FakeVoice::FakeVoice;

  [[nodiscard]] const std::vector<VoiceFacts>& voices() const override { return voices_; }

  [[nodiscard]] Result<VoiceFacts> find_voice(const std::string& voice) const override {
    for (const VoiceFacts& one : voices_) {
      if (one.name == (voice.empty() ? "hum" : voice)) {
        return one;
      }
    }
    return fail(ErrorCode::NotFound, "no voice " + voice);
  }

  [[nodiscard]] const VoiceReading& reading() const override { return reading_; }

 private:
  VoiceReading reading_ = {.by = ReadBy::EveryLanguage, .language = {}, .espeak_voice = {}};
  std::vector<VoiceFacts> voices_ = {{.name = "hum", .language = "en-US", .sex = ""},
                                     {.name = "summen", .language = "de-DE", .sex = ""},
                                     {.name = "brusio", .language = "it-IT", .sex = ""}};
};

class VoiceChoice : public testing::Test {
 protected:
  // The options of the first voice, for a text of that language.
  [[nodiscard]] SpeakOptions chosen(const std::string& language) const {
    SpeakOptions options;
    options.voice.voice = "hum";
    return options_in(language, synthesizer_, synthesizer_.check(options).value(), options);
  }

  std::vector<std::string> said_;
  Synthesizer synthesizer_{
      std::make_unique<const ThreeVoices>(said_),
      [](const std::string& language) -> Result<std::shared_ptr<const Phonemizer>> {
        if (language.starts_with("it")) {
          return fail(ErrorCode::Unsupported, "nothing here reads Italian");
        }
        return std::make_shared<const WrittenWords>();
      }};
};

TEST_F(VoiceChoice, StaysWhereItSpeaksTheLanguage) {
  for (const char* const language : {"", "en", "en-US"}) {
    EXPECT_EQ(chosen(language).voice.voice, "hum") << language;
    EXPECT_EQ(chosen(language).language, "") << language;
  }
}

TEST_F(VoiceChoice, GoesToAVoiceOfTheLanguage) {
  EXPECT_EQ(chosen("de").voice.voice, "summen");
  EXPECT_EQ(chosen("de").language, "") << "its own way of it";
}

TEST_F(VoiceChoice, KeepsTheVoiceWithAnAccentWhereThereIsNoOther) {
  EXPECT_EQ(chosen("fr").voice.voice, "hum");
  EXPECT_EQ(chosen("fr").language, "fr");
}

TEST_F(VoiceChoice, IsAsItWasWhereNothingReadsTheLanguage) {
  EXPECT_EQ(chosen("it").voice.voice, "hum");
  EXPECT_EQ(chosen("it").language, "");
}

}  // namespace
}  // namespace mynah
