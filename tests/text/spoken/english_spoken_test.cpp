#include "text/spoken/english_spoken.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "much.h"
#include "test_paths.h"
#include "text/spoken/formulas.h"
#include "text/spoken/reading.h"
#include "text/spoken/sentences.h"
#include "text/utf8.h"

namespace mynah {
namespace {

struct Case {
  std::string type;
  std::string written;
  std::string spoken;
  std::string reason;

  [[nodiscard]] SpokenOptions options() const {
    SpokenOptions options;
    if (type.ends_with(".british")) {
      options.dialect = EnglishDialect::British;
    }
    if (type.ends_with(".silent")) {
      options.emoji = EmojiReading::Silent;
    }
    return options;
  }
};

std::vector<Case> read_cases() {
  std::ifstream file(test::source_path("tests/text/spoken_cases.tsv"));
  std::vector<Case> cases;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) {
      continue;
    }
    std::array<std::string, 4> fields;
    std::istringstream stream(line);
    for (std::string& field : fields) {
      std::getline(stream, field, '\t');
    }
    cases.push_back({fields[0], fields[1], fields[2], fields[3]});
  }
  return cases;
}

// What is wrong with the pieces of a text, or nothing.
std::string fault_of(std::string_view source, const SpokenText& spoken) {
  size_t end = 0;
  size_t source_begin = 0;
  size_t source_end = 0;
  for (const SpokenPiece& piece : spoken.pieces) {
    if (piece.begin < end || piece.end <= piece.begin || piece.end > spoken.text.size()) {
      return "a piece lies in another, is empty or lies outside";
    }
    if (spoken.text.substr(end, piece.begin - end).find_first_not_of(" \t\r\n") !=
        std::string::npos) {
      return "something is in no piece";
    }
    const bool same = piece.source_begin == source_begin && piece.source_end == source_end;
    if (piece.source_begin > piece.source_end || piece.source_end > source.size() ||
        (!same && piece.source_begin < source_end)) {
      return "sources are not in order";
    }
    end = piece.end;
    source_begin = piece.source_begin;
    source_end = piece.source_end;
  }
  if (spoken.text.substr(end).find_first_not_of(" \t\r\n") != std::string::npos) {
    return "something at the end is in no piece";
  }
  return "";
}

TEST(SpokenCases, EveryCaseIsReadAsTheTableSays) {
  const std::vector<Case> cases = read_cases();
  ASSERT_GE(cases.size(), 400U);
  for (const Case& c : cases) {
    ASSERT_FALSE(c.reason.empty()) << c.written;
    const SpokenText spoken = spoken_english(c.written, c.options());
    EXPECT_EQ(spoken.text, c.spoken) << c.type << ": " << c.written << " (" << c.reason << ")";
    EXPECT_EQ(fault_of(c.written, spoken), "") << c.written;
  }
}

TEST(SpokenCases, WhatIsSpokenIsSpokenTheSame) {
  for (const Case& c : read_cases()) {
    EXPECT_EQ(spoken_english(c.spoken, c.options()).text, c.spoken) << c.written;
  }
}

// Stops inside a sentence do not cut it, so that its parts are read as the whole is.
TEST(SpokenCases, SentencesAreReadTheSameBehindTheSplitter) {
  for (const Case& c : read_cases()) {
    if (c.type != "newsreader") {
      continue;
    }
    std::string spoken;
    for (const Sentence& sentence : split_sentences(c.written)) {
      spoken += (spoken.empty() ? "" : " ") + spoken_english(sentence.text, c.options()).text;
    }
    EXPECT_EQ(spoken, c.spoken) << c.written;
  }
}

// docs/spoken-text.md: rows of "class | written | spoken" are cases of the table, and read as they
// say.
TEST(SpokenCases, ThePageShowsCasesOfTheTable) {
  const std::vector<Case> cases = read_cases();
  std::ifstream page(test::source_path("docs/spoken-text.md"));
  size_t rows = 0;
  bool shown = false;
  for (std::string line; std::getline(page, line);) {
    if (line == "| Class | Written | Spoken |") {
      shown = true;
      std::getline(page, line);
      continue;
    }
    shown = shown && line.starts_with("| ");
    if (!shown) {
      continue;
    }
    const auto known = std::ranges::any_of(cases, [&](const Case& c) {
      return line == "| " + c.type + " | " + c.written + " | " + c.spoken + " |";
    });
    EXPECT_TRUE(known) << line;
    ++rows;
  }
  EXPECT_GE(rows, 50U);
}

std::string piece_text(const SpokenText& spoken, size_t i) {
  return spoken.text.substr(spoken.pieces[i].begin, spoken.pieces[i].end - spoken.pieces[i].begin);
}

std::string piece_source(std::string_view source, const SpokenText& spoken, size_t i) {
  const SpokenPiece& piece = spoken.pieces[i];
  return std::string(source.substr(piece.source_begin, piece.source_end - piece.source_begin));
}

TEST(EnglishSpoken, PiecesSayWhatTheyCameFrom) {
  const std::string_view source = "It is 7:30 p.m. \u2018now\u2019, \uff11\uff12 km!";
  const SpokenText spoken = spoken_english(source);
  EXPECT_EQ(spoken.text, "It is seven thirty P M now, twelve kilometers!");
  ASSERT_EQ(spoken.pieces.size(), 8U);
  EXPECT_EQ(piece_text(spoken, 2), "seven thirty");
  EXPECT_EQ(piece_source(source, spoken, 2), "7:30 p.m.");
  EXPECT_FALSE(spoken.pieces[2].letters);
  EXPECT_EQ(piece_text(spoken, 3), "P M");
  EXPECT_EQ(piece_source(source, spoken, 3), "7:30 p.m.");
  EXPECT_TRUE(spoken.pieces[3].letters);
  EXPECT_EQ(piece_source(source, spoken, 4), "now");
  EXPECT_EQ(piece_source(source, spoken, 6), "\uff11\uff12 km");
}

TEST(EnglishSpoken, MarksWinOverEverything) {
  const std::string_view source = "Read 5 tomatoes & 12 in 2024, Dr. Who.";
  const std::vector<TextMark> marks = {
      {TextMark::Kind::Phonemes, 7, 15, "t\u0259m\u02c8\u0251t\u0259\u028az", ""},
      {TextMark::Kind::SayAs, 18, 20, "digits", ""},
      {TextMark::Kind::Substitute, 24, 28, "the year 1999", ""},
      {TextMark::Kind::Phonemes, 34, 37, "hu", ""}};
  const SpokenText spoken = spoken_english(source, {}, marks);
  EXPECT_EQ(spoken.text,
            "Read five tomatoes and one two in the year nineteen ninety-nine, Doctor Who.");
  const auto found = std::ranges::find(spoken.pieces, "hu", &SpokenPiece::phonemes);
  ASSERT_NE(found, spoken.pieces.end());
  EXPECT_EQ(found->source_begin, 34U);
  EXPECT_EQ(fault_of(source, spoken), "");
  SpokenOptions as_is;
  as_is.normalize = false;
  EXPECT_EQ(spoken_english(source, as_is, marks).text,
            "Read 5 tomatoes & one two in the year 1999, Dr. Who.");
}

TEST(EnglishSpoken, AMarkMayBeginInsideAWord) {
  const std::vector<TextMark> marks = {{TextMark::Kind::Phonemes, 2, 6, "ri\u02d0d", ""}};
  const SpokenText spoken = spoken_english("rereads", {}, marks);
  ASSERT_EQ(spoken.pieces.size(), 3U);
  EXPECT_EQ(piece_text(spoken, 1), "read");
}

TEST(EnglishSpoken, WithoutNormalizingTheTextIsAsItWas) {
  SpokenOptions as_is;
  as_is.normalize = false;
  const std::string_view source = " $5  & 3 km\n\xFF\xC0 \u2019 ";
  const SpokenText spoken = spoken_english(source, as_is);
  EXPECT_EQ(spoken.text, source);
  EXPECT_EQ(fault_of(source, spoken), "");
}

TEST(EnglishSpoken, BytesThatAreNoTextAreSpaces) {
  EXPECT_EQ(spoken_english("a\xFF\x01"
                           "b\x7F c")
                .text,
            "a B C");
  EXPECT_EQ(spoken_english("").text, "");
  EXPECT_TRUE(spoken_english(" \n ").pieces.empty());
}

// Every fragment of the cases beside every other kind: no crash, ordered pieces, and one round is
// enough.
TEST(EnglishSpoken, FragmentsInAnyOrderAreTaken) {
  std::vector<std::string> fragments;
  for (const Case& c : read_cases()) {
    std::istringstream words(c.written);
    for (std::string word; words >> word;) {
      fragments.push_back(word);
    }
  }
  uint32_t state = 1;
  const auto next = [&] {
    state = state * 1664525U + 1013904223U;
    return state >> 8;
  };
  for (int round = 0; round < 5000; ++round) {
    std::string text;
    for (int i = 0; i < 6; ++i) {
      text += fragments[next() % fragments.size()];
      text += next() % 3 == 0 ? "" : " ";
    }
    if (next() % 4 == 0) {
      text.erase(next() % text.size(), 1);
    }
    const SpokenText spoken = spoken_english(text);
    ASSERT_EQ(fault_of(text, spoken), "") << text;
    ASSERT_EQ(replace_invalid_utf8(spoken.text), spoken.text) << text;
    ASSERT_EQ(fault_of(text, spoken_other(text)), "") << text;
  }
}

// Each takes minutes where a reader looks at all that follows.
TEST(EnglishSpoken, MuchOfAnythingIsRead) {
  for (const std::string_view unit :
       {"a",          "1",  "a.",   "1.", "1,",  "1-",  "1 ",      "(a",  "a/",  "a@",     "-",
        ".",          "'",  "\"",   "$",  "#a",  "x1",  "_a",      "A ",  "VI ", "\u00b2", "\u200d",
        "\U0001F44D", "1:", "\xE2", "$a", "$a$", "\\(", "II and ", "1\"", "5%-"}) {
    std::string text;
    while (text.size() < test::much(60'000)) {
      text += unit;
    }
    EXPECT_EQ(fault_of(text, spoken_english(text)), "") << unit;
  }
}

TEST(EnglishSpoken, AWordOfTwoMegabytesIsAWord) {
  const std::string word(2'000'000, 'a');
  EXPECT_EQ(spoken_english(word).text, word);
}

TEST(EnglishSpoken, AFormulaThatIsBrokenIsReadAsFarAsItGoes) {
  EXPECT_EQ(spoken_english("$x^{2$ is").text, "X squared is");
  EXPECT_EQ(spoken_english("$\\frac{a}$").text, "A");
  EXPECT_EQ(spoken_english("$a}+b$").text, "A plus B");
  EXPECT_EQ(formula_words(std::string(100'000, '{') + "x", EnglishDialect::American), spell("x"));
}

TEST(SpokenOther, LeavesWordsAndDigitsToTheVoice) {
  EXPECT_EQ(spoken_other("Es kostet 5 \u20ac am 3. Mai.").text, "Es kostet 5 \u20ac am 3. Mai.");
  EXPECT_EQ(spoken_other("\u0661\u0662 \U0001F600 ok").text, "12 ok");
  EXPECT_EQ(spoken_other("Siehe https://www.beispiel.de/seite?x=1 dort.").text,
            "Siehe beispiel.de/seite dort.");
}

}  // namespace
}  // namespace mynah
