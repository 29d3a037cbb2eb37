#include "text/word_error.h"

#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test_paths.h"
#include "text/wer_report.h"

namespace mynah {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    parts.push_back(part);
  }
  return parts;
}

// Joined again, one side of an alignment is the text that it aligns.
std::vector<std::string> side(const Alignment& alignment, std::string AlignedUnit::* text) {
  std::vector<std::string> words;
  for (const AlignedUnit& unit : alignment.units) {
    if (!(unit.*text).empty()) {
      words.push_back(unit.*text);
    }
  }
  return words;
}

TEST(WordError, CountsAreJiwers) {
  std::ifstream file(test::source_path("tests/text/data/word_errors.tsv"));
  int n_rows = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) {
      continue;
    }
    const auto cells = split(line, '\t');
    const auto reference = split(cells[0], ' ');
    const auto hypothesis = split(cells[1], ' ');
    const Alignment alignment = align(reference, hypothesis);
    const ErrorCounts expected{.hits = std::stoll(cells[2]),
                               .substitutions = std::stoll(cells[3]),
                               .deletions = std::stoll(cells[4]),
                               .insertions = std::stoll(cells[5])};
    EXPECT_EQ(alignment.counts, expected) << line;
    EXPECT_EQ(side(alignment, &AlignedUnit::reference), reference);
    EXPECT_EQ(side(alignment, &AlignedUnit::hypothesis), hypothesis);
    ++n_rows;
  }
  EXPECT_EQ(n_rows, 240);
}

TEST(WordError, EmptySidesAreAllInsertionsOrAllDeletions) {
  const std::vector<std::string> words = {"a", "b"};
  EXPECT_EQ(align({}, words).counts.insertions, 2);
  EXPECT_DOUBLE_EQ(align({}, words).counts.rate(), 2.0);
  EXPECT_EQ(align(words, {}).counts.deletions, 2);
  EXPECT_DOUBLE_EQ(align({}, {}).counts.rate(), 0.0);
}

TEST(WordError, TextsAreComparedAfterNormalization) {
  const TextScorer english("en");
  EXPECT_EQ(english.score("Mr. Smith can't pay $20.", "mister smith cannot pay twenty dollars")
                .counts.errors(),
            2);  // "can not" and "cannot"
  EXPECT_EQ(TextScorer("de").score("Grüß Gott!", "grüß gott").counts.errors(), 0);
}

TEST(WordError, LanguagesWithoutSpacesAreCountedByCharacter) {
  const TextScorer chinese("zh");
  const Alignment alignment = chinese.score("你好，世界。", "你好 世间");
  EXPECT_TRUE(chinese.by_character());
  EXPECT_EQ(alignment.counts, (ErrorCounts{.hits = 3, .substitutions = 1}));
}

WerReport two_clips() {
  WerReport report;
  report.add(
      score_clip("a.flac", "clips/a b#1.flac", "en", "red green blue", "red grin blue black"));
  report.add(score_clip("b.flac", "", "ja", "今日は", "今日"));
  return report;
}

TEST(WerReport, TotalsAreErrorsOverLengthOfAllClips) {
  const WerReport report = two_clips();
  EXPECT_EQ(report.words(), (ErrorCounts{.hits = 2, .substitutions = 1, .insertions = 1}));
  EXPECT_EQ(report.characters(), (ErrorCounts{.hits = 2, .deletions = 1}));
  EXPECT_NEAR(report.by_language()["en"].rate(), 2.0 / 3, 1e-12);
}

TEST(WerReport, TheTableHasALineAClipAndTheTotals) {
  const std::string table = write_table(two_clips());
  EXPECT_THAT(table, HasSubstr("a.flac"));
  EXPECT_THAT(table, HasSubstr("66.67"));
  EXPECT_THAT(table, HasSubstr("all, by character"));
  EXPECT_EQ(std::ranges::count(table, '\n'), 1 + 2 + 2 + 2);
}

TEST(WerReport, ThePagePlaysClipsAndMarksErrors) {
  const std::string page = write_html(two_clips(), "tiny.en");
  EXPECT_THAT(page, HasSubstr(R"(src="clips/a%20b%231.flac")"));
  EXPECT_THAT(page, HasSubstr("<del>green</del>"));
  EXPECT_THAT(page, HasSubstr("<ins>black</ins>"));
  EXPECT_THAT(page, Not(HasSubstr("http")));
}

// Every tag is closed, in the order HTML wants; enough of a parser for what the page has.
TEST(WerReport, ThePageIsWellFormed) {
  WerReport report;
  report.add(score_clip("a.wav", "a.wav", "ar", "مرحبا بكم", "مرحبا"));
  const std::string page = write_html(report, "t");
  std::vector<std::string> open;
  for (size_t at = page.find('<'); at != std::string::npos; at = page.find('<', at + 1)) {
    const bool closes = page[at + 1] == '/';
    const size_t begin = at + (closes ? 2 : 1);
    const std::string name = page.substr(begin, page.find_first_of(" >", begin) - begin);
    if (name == "!doctype" || name == "meta") {
      continue;
    }
    if (!closes) {
      open.push_back(name);
    } else {
      ASSERT_FALSE(open.empty());
      EXPECT_EQ(open.back(), name);
      open.pop_back();
    }
    if (name == "script" && !closes) {
      at = page.find("</script>", at) - 1;  // its text is no markup
    }
  }
  EXPECT_TRUE(open.empty());
  EXPECT_THAT(page, HasSubstr(R"(<td class="text" lang="ar"><p dir="auto">)"));
}

TEST(WerReport, NothingOfATextIsReadAsHtml) {
  WerReport report;
  report.add(score_clip("<b>\"x\"", "javascript:alert(1)", "de", "<script>a</script> & b",
                        "\xFF<img onerror=x>"));
  const std::string page = write_html(report, "<title>");
  EXPECT_THAT(page, Not(HasSubstr("<script>a")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, Not(HasSubstr("<b>\"x")));
  EXPECT_THAT(page, Not(HasSubstr("javascript:")));
  EXPECT_THAT(page, HasSubstr("&lt;title&gt;"));
}

}  // namespace
}  // namespace mynah
