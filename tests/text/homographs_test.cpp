// Words with two readings: those that a dictionary has for each of 108 sentences
// (tests/text/data/homographs.tsv).
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "text/english_files.h"
#include "text/phonemes/homograph_table.h"
#include "text/utf8.h"

namespace mynah {
namespace {

struct Case {
  std::string word;
  std::string phonemes;
  std::string sentence;
};

std::vector<Case> cases() {
  std::vector<Case> result;
  for (const std::string& line :
       test::lines_of(test::source_path("tests/text/data/homographs.tsv"))) {
    if (!line.starts_with('#')) {
      const size_t first = line.find('\t');
      const size_t second = line.find('\t', first + 1);
      result.push_back({line.substr(0, first), line.substr(first + 1, second - first - 1),
                        line.substr(second + 1)});
    }
  }
  return result;
}

// Sounds alone: no stress, and a flapped t as a t.
std::u32string sounds(const std::string& phonemes) {
  std::u32string result = to_code_points(phonemes);
  std::erase_if(result, [](char32_t c) { return c == U'ˈ' || c == U'ˌ'; });
  std::ranges::replace(result, U'T', U't');
  return result;
}

// The words of the sentence that are the case's, by their begin: "bow" is also that of "bowed".
bool reads_right(const std::vector<PhonemeWord>& words, const Case& expected) {
  return std::ranges::any_of(words, [&](const PhonemeWord& word) {
    std::string small = word.text;
    std::ranges::transform(small, small.begin(),
                           [](char c) { return static_cast<char>(std::tolower(c)); });
    std::string wanted = expected.word;
    std::ranges::transform(wanted, wanted.begin(),
                           [](char c) { return static_cast<char>(std::tolower(c)); });
    return small == wanted && sounds(word.phonemes).starts_with(sounds(expected.phonemes));
  });
}

TEST(Homographs, are_read_as_their_sentences_mean_them) {
  const EnglishFiles files = english_files_in(test::weights_path("phonemes"), /*british=*/false);
  MYNAH_SKIP_WITHOUT(files.tagger);
  const auto phonemizer = english_phonemizer(files, /*british=*/false, nullptr);
  ASSERT_TRUE(phonemizer) << phonemizer.error().message;
  const std::vector<Case> all = cases();
  EXPECT_GE(all.size(), 100U);
  for (const Case& expected : all) {
    const auto words = (*phonemizer)->phonemes(expected.sentence);
    ASSERT_TRUE(words);
    EXPECT_TRUE(reads_right(*words, expected))
        << expected.word << " " << expected.phonemes << ": " << expected.sentence << "\n  found "
        << joined(*words);
  }
}

TEST(Homographs, change_nothing_but_words_of_the_table) {
  const EnglishFiles files = english_files_in(test::weights_path("phonemes"), /*british=*/true);
  MYNAH_SKIP_WITHOUT(files.tagger);
  const auto with = english_phonemizer(files, /*british=*/true, nullptr);
  const auto without = english_phonemizer(files, /*british=*/true, nullptr, {.as_misaki = true});
  ASSERT_TRUE(with && without);
  size_t changed = 0;
  for (const std::string& sentence : test::english_sentences()) {
    const auto ours = *(*with)->phonemes(sentence);
    const auto lexicons = *(*without)->phonemes(sentence);
    ASSERT_EQ(ours.size(), lexicons.size());
    for (size_t i = 0; i < ours.size(); ++i) {
      if (ours[i].phonemes != lexicons[i].phonemes) {
        ++changed;
        std::u32string word = to_code_points(ours[i].text);
        std::ranges::transform(word, word.begin(),
                               [](char32_t c) { return c < 0x80 ? c | 0x20 : c; });
        EXPECT_TRUE(std::ranges::find(kHomographs, word, &HomographRule::word) != kHomographs.end())
            << sentence;
      }
    }
  }
  EXPECT_GT(changed, 0U);
  EXPECT_LT(changed, 20U) << "of 2,000 sentences few have such a word";
}

// Both readings must be phonemes that a voice knows.
TEST(Homographs, have_phonemes_in_both_accents) {
  for (const HomographRule& rule : kHomographs) {
    for (const std::u32string_view reading : {rule.american, rule.british}) {
      EXPECT_EQ(std::ranges::count(reading, U'ˈ'), 1) << to_utf8(rule.word);
    }
    EXPECT_EQ(rule.american.find(U'ː'), std::u32string_view::npos) << to_utf8(rule.word);
  }
}

}  // namespace
}  // namespace mynah
