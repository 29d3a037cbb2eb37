// Texts come back as they were, whatever their bytes; long runs end.
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "text/tokenizer/tiny_vocabulary.h"
#include "text/tokenizer/vocabulary_files.h"
#include "text/utf8.h"

namespace mynah {
namespace {

std::string decoded(const TextTokenizer& tokenizer, std::string_view text) {
  std::string back;
  for (const int32_t id : tokenizer.encode(text)) {
    back += tokenizer.bytes(id);
  }
  return back;
}

std::string random_bytes(std::mt19937& random) {
  std::string text(random() % 100, '\0');
  for (char& byte : text) {
    byte = static_cast<char>(random());
  }
  return text;
}

// Code points of a few scripts, spaces and letters among them, and runs of them.
std::string random_text(std::mt19937& random) {
  constexpr std::u32string_view kSome =
      U"abcXYZ 019 \n\r\t'.,-<|>\u00e9\u0301\u0416\u3042\u4e00\u0e01";
  std::string text;
  for (size_t i = random() % 40; i > 0; --i) {
    const char32_t code_point = random() % 4 == 0 ? static_cast<char32_t>(random() % 0xD800)
                                                  : kSome[random() % kSome.size()];
    for (size_t times = random() % 4; times > 0; --times) {
      append_utf8(text, code_point);
    }
  }
  return text;
}

void expect_round_trips(const TextTokenizer& tokenizer, const std::string& before) {
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    for (const std::string& text : {random_bytes(random), random_text(random)}) {
      if (text.find("\u2581") == std::string::npos) {
        EXPECT_EQ(decoded(tokenizer, text), text.empty() ? "" : before + text);
      }
    }
  }
}

TEST(RoundTrip, OfTinyVocabularies) {
  const auto bytes = create_text_tokenizer(test::tiny_byte_level().file());
  ASSERT_TRUE(bytes);
  expect_round_trips(**bytes, "");
  const auto pieces = create_text_tokenizer(test::tiny_pieces().file());
  ASSERT_TRUE(pieces);
  expect_round_trips(**pieces, " ");
}

class RoundTrip : public testing::TestWithParam<std::string> {};

TEST_P(RoundTrip, OfARealVocabulary) {
  const std::string path = test::vocabulary_path(GetParam());
  MYNAH_SKIP_WITHOUT(path);
  const auto tokenizer = test::tokenizer_of(path);
  ASSERT_NE(tokenizer, nullptr);
  const bool is_pieces = GetParam() == "llama-spm" || GetParam() == "phi-3";
  expect_round_trips(*tokenizer, is_pieces ? " " : "");
}

// A run that would take minutes were anything quadratic.
TEST_P(RoundTrip, OfALongRun) {
  const std::string path = test::vocabulary_path(GetParam());
  MYNAH_SKIP_WITHOUT(path);
  const auto tokenizer = test::tokenizer_of(path);
  ASSERT_NE(tokenizer, nullptr);
  const bool is_pieces = GetParam() == "llama-spm" || GetParam() == "phi-3";
  constexpr size_t kLength = 1 << 18;
  for (const char byte : {'a', ' ', '\xff', '\n'}) {
    const std::string text(kLength, byte);
    EXPECT_EQ(decoded(*tokenizer, text), (is_pieces ? " " : "") + text) << static_cast<int>(byte);
  }
}

INSTANTIATE_TEST_SUITE_P(Families, RoundTrip,
                         testing::Values("gemma-4", "gpt-2", "llama-bpe", "llama-spm", "phi-3",
                                         "qwen2"));

}  // namespace
}  // namespace mynah
