// Words of other scripts inside English text: read by a language that is written so, or left out
// and told.
#include "speech/foreign_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/scripts.h"

namespace mynah {
namespace {

using testing::HasSubstr;
using testing::Not;

// Says "x" for each word.
class Crosses final : public Phonemizer {
 public:
  using Phonemizer::phonemes;

  [[nodiscard]] Result<std::vector<PhonemeWord>> phonemes(
      std::string_view text, std::span<const GivenPhonemes> /*given*/) const override {
    return std::vector{PhonemeWord{.text = std::string(text), .phonemes = "x"}};
  }
};

PhonemizerSource reads(std::string language, ErrorCode otherwise) {
  return [language,
          otherwise](const std::string& wanted) -> Result<std::shared_ptr<const Phonemizer>> {
    if (wanted != language) {
      return fail(otherwise, "no phonemes for " + wanted);
    }
    return std::make_shared<const Crosses>();
  };
}

std::vector<PhonemeWord> words(const std::vector<std::string>& texts) {
  std::vector<PhonemeWord> words;
  size_t at = 0;
  for (const std::string& text : texts) {
    words.push_back({.text = text, .phonemes = "a", .begin = at, .end = at + text.size()});
    at += text.size() + 1;
  }
  return words;
}

TEST(Scripts, AreToldByTheirLetters) {
  const auto name = [](char32_t character) {
    const Script* const script = foreign_script(character);
    return script == nullptr ? std::string_view() : script->name;
  };
  EXPECT_EQ(name(U'\u0434'), "Cyrillic");
  EXPECT_EQ(name(U'\u03BB'), "Greek");
  EXPECT_EQ(name(U'\u4F60'), "Han");
  EXPECT_EQ(name(U'\u3072'), "Japanese kana");
  EXPECT_EQ(name(U'\uD55C'), "Hangul");
  EXPECT_EQ(name(U'\u13A0'), "other scripts");  // Cherokee
  for (const char32_t none : {U'a', U'\u00E9', U'\u0259', U'\u1E9E', U'\u2126', U'5', U'\u060C',
                              U'\U0001F600', U'\u212B'}) {
    EXPECT_EQ(name(none), "") << static_cast<uint32_t>(none);
  }
}

TEST(ForeignWords, AreReadByALanguageThatIsWrittenSo) {
  ForeignWords foreign(reads("ru", ErrorCode::Unsupported));
  std::vector<PhonemeWord> list = words(
      {"na\u00EFve", "\u0434\u0430", "\u0434\u0430", "\u4F60\u597D", "b\u0434\u0430", "X\u5B89YZ"});
  const std::vector<GivenPhonemes> given = {
      {.begin = list[2].begin, .end = list[2].end, .phonemes = "a"}};
  foreign.read(list, given, true);
  EXPECT_EQ(list[0].phonemes, "a");
  EXPECT_EQ(list[1].phonemes, "x");
  EXPECT_EQ(list[2].phonemes, "a");  // given
  EXPECT_EQ(list[3].phonemes, "");
  EXPECT_EQ(list[4].phonemes, "x");
  EXPECT_EQ(list[5].phonemes, "a");
  EXPECT_EQ(foreign.warning(),
            "3 characters of Han were left out: no voice of English reads them; choose a voice of "
            "their language");
}

TEST(ForeignWords, AreCountedOnceAndByScript) {
  ForeignWords foreign(reads("", ErrorCode::Environment));
  EXPECT_EQ(foreign.warning(), "");
  std::vector<PhonemeWord> list = words({"\u0434\u0430", "\u4F60"});
  foreign.read(list, {}, true);
  foreign.read(list, {}, false);
  EXPECT_EQ(foreign.warning(),
            "2 characters of Cyrillic and 1 of Han were left out: no voice of English reads them; "
            "choose a voice of their language, or install espeak-ng, which reads many");
  ForeignWords one(reads("", ErrorCode::Unsupported));
  list = words({"\u4F60"});
  one.read(list, {}, true);
  EXPECT_THAT(one.warning(), HasSubstr("1 character of Han was left out"));
  EXPECT_THAT(one.warning(), Not(HasSubstr("espeak")));
}

}  // namespace
}  // namespace mynah
