// Sentences with the reading that a newsreader would give, compared word by word.
#include <cctype>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test_paths.h"
#include "text/spoken/english_spoken.h"
#include "text/spoken/sentences.h"

namespace mynah {
namespace {

// Words in small letters, apart at hyphens and marks; letters stand alone ("a d").
std::string words_of(std::string_view text) {
  std::string apart;
  for (const char c : text) {
    const bool part = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '\'';
    apart += part ? static_cast<char>(std::tolower(static_cast<unsigned char>(c))) : ' ';
  }
  std::istringstream stream(apart);
  std::string words;
  for (std::string word; stream >> word;) {
    words += (words.empty() ? "" : " ") + word;
  }
  return words;
}

std::string spoken_words(const std::string& written) {
  std::string spoken;
  for (const Sentence& sentence : split_sentences(written)) {
    spoken += " " + spoken_english(sentence.text).text;
  }
  return words_of(spoken);
}

std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    parts.push_back(part);
  }
  return parts;
}

// Rows of kind, written, and readings with "|" between them, behind a line of names.
TEST(Newsreader, EverySentenceIsReadAsOneOfItsReadings) {
  const std::string path = test::shared_path("cases/speak/sentences.tsv");
  MYNAH_SKIP_WITHOUT(path);
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  size_t sentences = 0;
  while (std::getline(file, line)) {
    const std::vector<std::string> fields = parts_of(line, '\t');
    ASSERT_EQ(fields.size(), 3U) << line;
    std::set<std::string> readings;
    for (const std::string& reading : parts_of(fields[2], '|')) {
      readings.insert(words_of(reading));
    }
    ++sentences;
    const std::string spoken = spoken_words(fields[1]);
    EXPECT_TRUE(readings.contains(spoken)) << fields[1] << "\n  is read: " << spoken;
  }
  EXPECT_GE(sentences, 60U);
}

}  // namespace
}  // namespace mynah
