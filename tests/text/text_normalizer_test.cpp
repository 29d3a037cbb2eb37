// Against the package whisper-normalizer's results (tools/normalizer_vectors.py).
#include "text/text_normalizer.h"

#include <array>
#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "test_paths.h"

namespace mynah {
namespace {

std::vector<std::string> split_tabs(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, '\t');) {
    cells.push_back(cell);
  }
  return cells;
}

std::vector<std::vector<std::string>> read_table(const std::string& path) {
  std::vector<std::vector<std::string>> rows;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with('#')) {
      rows.push_back(split_tabs(line));
    }
  }
  return rows;
}

std::string unquote(const std::string& cell) {
  return nlohmann::json::parse(cell).get<std::string>();
}

TEST(TextNormalizer, EveryGeneratedLineIsNormalizedAsByTheReference) {
  const auto english = english_text_normalizer();
  const std::array basics = {basic_text_normalizer(),
                             basic_text_normalizer({.remove_diacritics = true}),
                             basic_text_normalizer({.split_letters = true})};
  const char* file = std::getenv("MYNAH_NORMALIZER_VECTORS");
  const auto rows =
      read_table(file != nullptr ? file : test::source_path("tests/text/data/normalized.tsv"));
  EXPECT_GE(rows.size(), 400U);
  for (const auto& row : rows) {
    const std::string text = unquote(row[0]);
    EXPECT_EQ(english->normalize(text), unquote(row[1])) << text;
    for (size_t i = 0; i < basics.size(); ++i) {
      EXPECT_EQ(basics[i]->normalize(text), unquote(row[2 + i])) << text;
    }
  }
}

TEST(TextNormalizer, RealTranscriptsAreNormalizedAsByTheReference) {
  const std::string path = test::shared_path("speech/transcripts.tsv");
  MYNAH_SKIP_WITHOUT(path);
  std::map<std::string, std::string> texts;
  for (const auto& row : read_table(path)) {
    texts[row[0]] = row.back();
  }
  const auto english = english_text_normalizer();
  const auto rows = read_table(test::source_path("tests/text/data/normalized_transcripts.tsv"));
  EXPECT_EQ(rows.size(), 96U);
  for (const auto& row : rows) {
    ASSERT_TRUE(texts.contains(row[0])) << row[0];
    EXPECT_EQ(english->normalize(texts[row[0]]), unquote(row[1]));
  }
}

TEST(TextNormalizer, MarksStayWhereTheyAreVowels) {
  const auto keeps = basic_text_normalizer({.preserve_marks = true});
  EXPECT_EQ(keeps->normalize("नमस्ते, दुनिया!"), "नमस्ते दुनिया ");
}

TEST(TextNormalizer, BrokenBytesAreReadAsReplacementCharacters) {
  EXPECT_EQ(english_text_normalizer()->normalize("caf\xE9 five"), "caf 5");
  EXPECT_EQ(basic_text_normalizer()->normalize("a\xFF z"), "a z");
}

}  // namespace
}  // namespace mynah
