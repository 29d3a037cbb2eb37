// Sentences with the reading that a newsreader would give, compared word by word.
#include <cctype>
#include <fstream>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test_paths.h"
#include "text/documents/document.h"
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

// Inputs that users reported, each with the words of its sentences.
struct Report {
  std::string file;
  std::vector<std::string> sentences;
};

void PrintTo(const Report& report, std::ostream* out) {
  *out << report.file;
}

class Reports : public testing::TestWithParam<Report> {};

TEST_P(Reports, AreReadAsTheirCaseSays) {
  const std::string path = test::shared_path("cases/speak/" + GetParam().file);
  MYNAH_SKIP_WITHOUT(path);
  const auto document = read_document(path);
  ASSERT_TRUE(document.has_value());
  std::vector<std::string> spoken;
  for (const Chapter& chapter : document->chapters) {
    for (const Sentence& sentence : split_sentences(chapter.text)) {
      spoken.push_back(words_of(spoken_english(sentence.text).text));
    }
  }
  EXPECT_EQ(spoken, GetParam().sentences);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Reports,
    testing::Values(
        Report{"06-roman-headings/r.html",
               {"one",     "text", "two",    "text", "three",        "text", "four",   "text",
                "six",     "text", "seven",  "text", "nine",         "text", "eleven", "text",
                "fifteen", "text", "twenty", "text", "two the mill", "text"}},
        Report{
            "07-dashes-at-begin/t.txt",
            {"but i thought so he said", "he left", "it was the end then he came", "", "who me"}},
        Report{"09-dotted-initialisms/t.txt",
               {"the n b c and the b b c and the a b c met in n y c today",
                "forty two u s c section nineteen eighty three applies",
                "she has an l l b and two p h d's here"}},
        Report{"10-leading-zeros/t.txt",
               {"chapter one", "chapter seven", "episode five", "track three", "day eight"}},
        Report{"17-hyphen-number-ranges/t.txt",
               {"call our one eight hundred number",
                "the boeing seven thirty seven eight hundred landed",
                "c v e twenty twenty four three zero nine four is old",
                "a two and a half inch nail", "launch is at t minus ten minutes",
                "the eighteen to twenty four year olds agree", "add a half to three quarters cup",
                "the lease runs january first twenty twenty five to december thirty first twenty "
                "twenty six"}},
        Report{"19-roman-small/t.txt",
               {"they met louis the sixteenth's heir", "mister j p morgan the third came",
                "see section two a three"}},
        Report{
            "20-signs-dropped/t.txt",
            {"in c sharp minor not b flat major", "delta t equals five kelvins",
             "c six h twelve o six is sugar", "it takes two thirds", "pre nineteen forty five maps",
             "the fiscal year twenty twenty three twenty four budget"}},
        Report{
            "21-short-forms-split/t.txt",
            {"we saw point reyes today", "attention h r department here", "drive within five miles",
             "ash court is closed", "take route sixty six now", "non u s citizens left"}},
        Report{"22-missing-space/t.txt",
               {"what is this", "yes it is", "he left in nineteen ninety nine", "she stayed"}}));

}  // namespace
}  // namespace mynah
