#include "text/utf8.h"

#include <gtest/gtest.h>

#include "text/unicode.h"

namespace mynah {
namespace {

TEST(Utf8, EveryCodePointIsReadBackAsItWasWritten) {
  for (char32_t code_point = 0; code_point <= 0x10FFFF; ++code_point) {
    if (code_point >= 0xD800 && code_point <= 0xDFFF) {
      continue;
    }
    std::string text;
    append_utf8(text, code_point);
    const Utf8Step step = next_code_point(text);
    ASSERT_TRUE(step.valid) << static_cast<uint32_t>(code_point);
    ASSERT_EQ(step.code_point, code_point);
    ASSERT_EQ(step.bytes, text.size());
  }
}

// Unicode standard, table 3-8 and section 3.9: one replacement a maximal subpart.
TEST(Utf8, BrokenSequencesAreReplacedAsTheStandardSays) {
  EXPECT_EQ(replace_invalid_utf8("a\xF1\x80\x80\xE1\x80\xC2"
                                 "b\x80"
                                 "c\x80\xBF"
                                 "d"),
            "a\uFFFD\uFFFD\uFFFDb\uFFFDc\uFFFD\uFFFDd");
  EXPECT_EQ(replace_invalid_utf8("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"),
            "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\x41");
  EXPECT_EQ(replace_invalid_utf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");  // a surrogate
  EXPECT_EQ(replace_invalid_utf8("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(replace_invalid_utf8("plain \u00e9 \u4e00"), "plain \u00e9 \u4e00");
}

TEST(Utf8, TheIncompleteTailIsWhatMoreBytesCouldComplete) {
  EXPECT_EQ(incomplete_utf8_tail(""), 0U);
  EXPECT_EQ(incomplete_utf8_tail("abc"), 0U);
  EXPECT_EQ(incomplete_utf8_tail("a\xE4"), 1U);
  EXPECT_EQ(incomplete_utf8_tail("a\xE4\xB8"), 2U);
  EXPECT_EQ(incomplete_utf8_tail("a\xE4\xB8\x80"), 0U);
  EXPECT_EQ(incomplete_utf8_tail("\xF0\x9F\x98"), 3U);
  EXPECT_EQ(incomplete_utf8_tail("\xE0\x80"), 0U);  // overlong: nothing completes it
  EXPECT_EQ(incomplete_utf8_tail("\x80\x80"), 0U);
  EXPECT_EQ(incomplete_utf8_tail("\xFF"), 0U);
}

TEST(Utf8, AStreamHoldsBackHalfACodePoint) {
  const std::string bytes =
      "a\u00e9\u4e00\U0001F600\xFF\xE4\xB8"
      "b\xF0\x9F";
  for (size_t step = 1; step <= bytes.size(); ++step) {
    Utf8Stream stream;
    std::string text;
    for (size_t at = 0; at < bytes.size(); at += step) {
      const std::string part = stream.push(std::string_view(bytes).substr(at, step));
      EXPECT_EQ(replace_invalid_utf8(part), part);
      text += part;
    }
    EXPECT_EQ(text + stream.flush(), replace_invalid_utf8(bytes)) << step;
  }
}

TEST(Unicode, CanonicalPartsLeaveCompatibilityAlone) {
  EXPECT_EQ(canonical_parts(U'\u00e9'), U"e\u0301");
  EXPECT_EQ(canonical_parts(U'\u00bd'), U"\u00bd");
  EXPECT_EQ(canonical_parts(U'\uac01'), U"\u1100\u1161\u11a8");
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    ASSERT_GE(canonical_parts(c).size(), 1U);
  }
}

TEST(Unicode, GeneralCategoriesHaveTheirNames) {
  const auto name = [](char32_t c) { return general_category_name(general_category(c)); };
  EXPECT_EQ(name(U'A'), "Lu");
  EXPECT_EQ(name(U'\u4e00'), "Lo");
  EXPECT_EQ(name(U'\u0301'), "Mn");
  EXPECT_EQ(name(U'7'), "Nd");
  EXPECT_EQ(name(U' '), "Zs");
  EXPECT_EQ(name(U'\n'), "Cc");
  EXPECT_EQ(name(U'$'), "Sc");
  EXPECT_EQ(name(U'\uE000'), "Co");
  EXPECT_EQ(name(U'\u0378'), "Cn");
}

TEST(Unicode, LettersNumbersAndSpacesAreWhatTheTokenizersMean) {
  EXPECT_TRUE(is_letter(U'a') && is_letter(U'\u00e9') && is_letter(U'\u4e00'));
  EXPECT_FALSE(is_letter(U'1') || is_letter(U'\'') || is_letter(U'\u0301'));
  EXPECT_TRUE(is_number(U'7') && is_number(U'\u00bd') && is_number(U'\u2160'));
  EXPECT_FALSE(is_number(U'a'));
  EXPECT_TRUE(is_white_space(U' ') && is_white_space(U'\u00a0') && is_white_space(U'\u3000') &&
              is_white_space(U'\t') && is_white_space(U'\u0085'));
  EXPECT_FALSE(is_white_space(U'\u200b') || is_white_space(U'\u001c'));
  EXPECT_TRUE(is_python_space(U'\u001c') && is_python_space(U' '));
}

}  // namespace
}  // namespace mynah
