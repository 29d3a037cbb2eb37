// Sentences to phonemes: the user's own words, whatever the normaliser would make of them.
#include "speech/text_reader.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "temporary_folder.h"
#include "text/phonemes/own_words.h"

namespace mynah {
namespace {

// Each word as it is, or as it was given between slashes.
class Letters final : public Phonemizer {
 public:
  [[nodiscard]] Result<std::vector<PhonemeWord>> phonemes(
      std::string_view text, std::span<const GivenPhonemes> given) const override {
    std::vector<PhonemeWord> words;
    size_t at = 0;
    for (const GivenPhonemes& range : given) {
      add(text, at, range.begin, words);
      words.push_back({.text = {},
                       .phonemes = "/" + range.phonemes + "/",
                       .space_after = true,
                       .begin = range.begin,
                       .end = range.end});
      at = range.end;
    }
    add(text, at, text.size(), words);
    return words;
  }

 private:
  static void add(std::string_view text, size_t begin, size_t end,
                  std::vector<PhonemeWord>& words) {
    while (begin < end && text[begin] == ' ') {
      ++begin;
    }
    if (begin < end) {
      words.push_back({.text = {},
                       .phonemes = std::string(text.substr(begin, end - begin)),
                       .space_after = false,
                       .begin = begin,
                       .end = end});
    }
  }
};

TEST(TextReader, LeavesTheUsersWordsToHisLexicon) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "own.txt", "SQL\tsˈi\nMP3s\tˈɛm\nDr.\tdˈə\nC++\tsˈɪ\nCOVID-19\tkˈo\n");
  const auto phonemizer = own_words_first(folder / "own.txt", std::make_shared<Letters>());
  ASSERT_TRUE(phonemizer);
  const TextReader reader(*phonemizer, "en-US", {});
  ForeignWords foreign([](const std::string&) -> Result<std::shared_ptr<const Phonemizer>> {
    return fail(ErrorCode::Unsupported, "none");
  });
  const auto read = [&](std::string_view text, std::span<const TextMark> marks = {}) {
    const auto words = reader.read(text, marks, foreign);
    return words ? joined(*words) : words.error().message;
  };
  EXPECT_EQ(read("SQL and MP3s"), "/sˈi/ and /ˈɛm/");
  EXPECT_EQ(read("(COVID-19)"), "/kˈo/");
  EXPECT_EQ(read("Dr. Lee likes C++ 5"), "/dˈə/ Lee likes /sˈɪ/ five");
  // What the text says of itself comes first.
  const std::vector<TextMark> marks = {
      {.kind = TextMark::Kind::Phonemes, .begin = 0, .end = 3, .value = "x", .format = {}},
      {.kind = TextMark::Kind::Substitute, .begin = 8, .end = 12, .value = "tapes", .format = {}}};
  EXPECT_EQ(read("SQL and MP3s or SQL", marks), "/x/ and tapes or /sˈi/");
}

}  // namespace
}  // namespace mynah
