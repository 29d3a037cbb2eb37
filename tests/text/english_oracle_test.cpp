// English sentences against the G2P whose rules Kokoro's training text was read by
// (tools/g2p_oracle.py); its network for unknown words is a table here.
#include <filesystem>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "text/english_files.h"

namespace mynah {
namespace {

class EnglishOracle : public testing::TestWithParam<const char*> {};

TEST_P(EnglishOracle, reads_every_one_of_two_thousand_sentences_alike) {
  const std::string accent = GetParam();
  const std::string oracle = test::english_oracle(accent + ".txt");
  const EnglishFiles files =
      english_files_in(test::weights_path("phonemes"), /*british=*/accent == "gb");
  MYNAH_SKIP_WITHOUT(files.tagger);
  MYNAH_SKIP_WITHOUT(oracle);
  const auto unknown =
      std::make_shared<test::WordTable>(test::english_oracle(accent + "_asked.tsv"));
  const auto phonemizer = english_phonemizer(files, accent == "gb", unknown, {.as_misaki = true});
  ASSERT_TRUE(phonemizer) << phonemizer.error().message;

  const std::vector<std::string> sentences = test::english_sentences();
  const std::vector<std::string> expected = test::lines_of(oracle);
  ASSERT_EQ(sentences.size(), 2000U);
  ASSERT_EQ(expected.size(), sentences.size());
  size_t different = 0;
  for (size_t i = 0; i < sentences.size(); ++i) {
    const auto words = (*phonemizer)->phonemes(sentences[i]);
    ASSERT_TRUE(words) << words.error().message;
    const std::string found = joined(*words);
    if (found != expected[i] && ++different <= 10) {
      ADD_FAILURE() << sentences[i] << "\n  wanted " << expected[i] << "\n  found  " << found;
    }
  }
  EXPECT_EQ(different, 0U) << "of " << sentences.size();
}

INSTANTIATE_TEST_SUITE_P(Accents, EnglishOracle, testing::Values("us", "gb"));

}  // namespace
}  // namespace mynah
