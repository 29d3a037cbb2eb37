// What stands beside a voice, and what becomes of phonemes.
#include "models/piper/voice_config.h"

#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "models/piper/real_voice.h"
#include "test_paths.h"
#include "text/utf8.h"

namespace mynah::piper {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kVoice = R"({
  "audio": {"sample_rate": 16000}, "espeak": {"voice": "de"}, "language": {"code": "de_DE"},
  "inference": {"noise_scale": 0.3, "length_scale": 1.25, "noise_w": 0},
  "phoneme_id_map": {"_": [0], "^": [1], "$": [2], "a": [3, 4], "b": 5, "ab": [6]},
  "speaker_id_map": {"anna": 1, "bert": 0}})";

std::string with(const std::string& from, const std::string& to) {
  std::string text = kVoice;
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(PiperVoiceConfig, IsRead) {
  const auto config = read_voice_config(kVoice, "a.json");
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->rate_hz, 16000);
  EXPECT_EQ(config->language, "de-de");
  EXPECT_EQ(config->espeak_voice, "de");
  EXPECT_EQ(config->kind, PhonemeKind::Espeak);
  EXPECT_FLOAT_EQ(config->noise_scale, 0.3F);
  EXPECT_FLOAT_EQ(config->length_scale, 1.25F);
  EXPECT_EQ(config->noise_w, 0.0F);
  EXPECT_THAT(config->speakers, ElementsAre("bert", "anna"));
}

TEST(PiperVoiceConfig, SaysWhatIsMissing) {
  const auto message = [](const std::string& text) {
    const auto config = read_voice_config(text, "a.json");
    return config ? "" : config.error().message;
  };
  EXPECT_THAT(message("[]"), HasSubstr("a.json: not the configuration of a Piper voice"));
  EXPECT_THAT(message(with("16000", "\"fast\"")), HasSubstr("audio.sample_rate"));
  EXPECT_THAT(message(with("\"^\": [1], ", "")), HasSubstr("an id of '^'"));
  EXPECT_THAT(message(with("[3, 4]", "[3, -4]")), HasSubstr("the ids of 'a'"));
  EXPECT_THAT(message(with("1.25", "0")), HasSubstr("a length_scale above 0"));
  EXPECT_THAT(message(with("\"anna\": 1", "\"anna\": 1e9")), HasSubstr("the speaker 'anna'"));
  EXPECT_THAT(message(with("\"audio\"", "\"phoneme_type\": \"pinyin\", \"audio\"")),
              HasSubstr("of the kind 'pinyin'"));
}

TEST(PiperVoiceConfig, IsOfItsNetwork) {
  const auto config = read_voice_config(kVoice, "a.json");
  ASSERT_TRUE(config.has_value());
  EXPECT_TRUE(check_voice_config(*config, 6, 2).has_value());
  EXPECT_THAT(check_voice_config(*config, 5, 2).error().message, HasSubstr("up to 5"));
  EXPECT_THAT(check_voice_config(*config, 6, 1).error().message, HasSubstr("2 speakers"));
}

TEST(PiperPhonemeIds, HavePausesBetweenThem) {
  const auto config = read_voice_config(kVoice, "a.json");
  ASSERT_TRUE(config.has_value());
  const PhonemeIds found = phoneme_ids(*config, U"bxa");
  EXPECT_THAT(found.ids, ElementsAre(1, 0, 5, 0, 3, 4, 0, 2));
  ASSERT_EQ(found.runs.size(), 3U);
  EXPECT_EQ(found.runs[0].begin, 2U);
  EXPECT_EQ(found.runs[0].length, 2U);
  EXPECT_EQ(found.runs[1].length, 0U);
  EXPECT_EQ(found.runs[2].begin, 4U);
  EXPECT_EQ(found.runs[2].length, 3U);
}

// piper-tts 1.3.0's own, by tools/piper_oracle.py.
TEST(PiperPhonemeIds, AreThoseOfPiper) {
  MYNAH_SKIP_WITHOUT(real_voice() + ".json");
  std::ifstream beside(real_voice() + ".json");
  const std::string text{std::istreambuf_iterator<char>(beside), {}};
  const auto config = read_voice_config(text, "joe");
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->rate_hz, 22050);
  EXPECT_EQ(config->language, "en-us");
  std::ifstream in(test::source_path("tests/models/piper/sentences.json"));
  const auto rows = nlohmann::json::parse(in);
  ASSERT_EQ(rows.size(), 20U);
  for (const auto& row : rows) {
    const auto phonemes = row["phonemes"].get<std::string>();
    EXPECT_EQ(phoneme_ids(*config, to_code_points(phonemes)).ids,
              row["ids"].get<std::vector<int32_t>>())
        << phonemes;
  }
}

}  // namespace
}  // namespace mynah::piper
