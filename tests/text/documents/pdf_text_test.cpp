// The text of a PDF: words that were cut, columns and pages, footnotes.
#include <random>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pdf_pages.h"

namespace mynah {
namespace {

using test::lines_of_text;
using test::Pages;
using testing::HasSubstr;
using testing::Not;

TEST(PdfText, WordsThatWereCutAreWhole) {
  Pages pages;
  pages.page();
  pages.block({"It is a para-", "graph of a well-known and well-", "known man from the Anglo-",
               "Saxon coast, 1990-", "1995, as we said be-"},
              60, 60);
  pages.page();
  pages.block({"fore the end of the paragraph.", "The next."}, 60, 60);
  EXPECT_EQ(pages.text(),
            "It is a paragraph of a well-known and well-known man from the Anglo-Saxon coast, "
            "1990-1995, as we said before the end of the paragraph.\nThe next.\n");
}

TEST(PdfText, ADictionaryTellsWordsWithHyphensFromThoseThatWereCut) {
  const auto read = [](bool with_dictionary) {
    Pages pages;
    pages.page();
    pages.block(
        {"The well-", "known man of the para-", "graph is a self-", "made cap-", "tain, un-",
         "beaten on the land-", "scape, and his mother-", "in-law went in-", "side."},
        60, 60);
    if (with_dictionary) {
      pages.dictionary({"the",     "well",   "known",     "man",  "paragraph", "self",   "made",
                        "captain", "beaten", "landscape", "land", "scape",     "mother", "law",
                        "went",    "side",   "inside",    "his",  "and",       "un",     "in"});
    }
    return pages.text();
  };
  EXPECT_EQ(
      read(true),
      "The well-known man of the paragraph is a self-made captain, unbeaten on the landscape, "
      "and his mother-in-law went inside.\n");
  EXPECT_THAT(read(false), HasSubstr("paragraph"));
}

TEST(PdfText, ADictionaryOfAnotherLanguageIsNotAsked) {
  Pages pages;
  pages.page();
  pages.block({"Der alte Mann zog seine Hand-", "schuhe aus und ging durch den tiefen Schnee."}, 60,
              60);
  pages.dictionary({"hand", "schuhe", "mann", "den", "aus"});
  EXPECT_THAT(pages.text(), HasSubstr("Handschuhe aus"));
}

TEST(PdfText, NumbersAboveAndBelowTheLineAreOfTheirWords) {
  Pages pages;
  pages.page();
  pages.block({"It has 40 m^2 of room and H_2 in it, on the 3^rd floor of the", "house.^12 Then."},
              60, 60);
  EXPECT_EQ(pages.text(),
            "It has 40 m\u00B2 of room and H2 in it, on the 3rd floor of the\nhouse. Then.\n");
}

// Two pages whose sentence goes on over notes.
std::string with_footnotes(NoteReading how) {
  Pages pages;
  std::mt19937 random(3);
  pages.page();
  pages.block({"The people of the valley^1 went to the harbour with", "all of their horses* and",
               "then they waited there for the ships that were to"},
              60, 60);
  pages.line("1", 60, 598, 4);
  pages.line("See the Annals, vol. 3, and the para-", 66, 600, 8);
  pages.block({"graph before.", "* In winter", "1990 they had none that"}, 60, 612, 8);
  pages.line("12", 300, 750);
  pages.page();
  pages.block({"come from the north.", "Nothing came for a long time.^2"}, 60, 60);
  pages.block({"was of use.", "^2 Ibid."}, 60, 600, 8);
  pages.line("13", 300, 750);
  return pages.text(how);
}

TEST(PdfNotes, AreNotReadInTheMiddleOfASentence) {
  EXPECT_EQ(
      with_footnotes(NoteReading::Skip),
      "The people of the valley went to the harbour with\nall of their horses and\nthen they "
      "waited there for the ships that were to\ncome from the north.\nNothing came for a long "
      "time.\n");
}

TEST(PdfNotes, AreGivenWhereTheyAreWanted) {
  EXPECT_EQ(with_footnotes(NoteReading::Inline),
            "The people of the valley (See the Annals, vol. 3, and the paragraph before.) went to "
            "the harbour with\nall of their horses (In winter 1990 they had none that was of use.) "
            "and\nthen they waited there for the ships that were to\ncome from the north.\nNothing "
            "came for a long time. (Ibid.)\n");
  EXPECT_THAT(with_footnotes(NoteReading::End),
              HasSubstr("a long time.[2]\n\n[Footnote 1: See the Annals, vol. 3, and the paragraph "
                        "before.]\n\n[Footnote *: In winter 1990 they had none that was of use.]"
                        "\n\n[Footnote 2: Ibid.]"));
}

TEST(PdfNotes, TheirMarksMayBeLinesOfTheirOwn) {
  Pages pages;
  pages.page();
  pages.block(
      {"The people of the valley went to the sea", "and waited there.   And nobody came for"}, 60,
      60);
  pages.line("1", 48, 72, 6);   // raised, before the second line
  pages.line("2", 145, 72, 6);  // raised, in the gap
  pages.line("1", 60, 598, 4);
  pages.line("See the Annals.", 66, 600, 8);
  pages.line("2", 60, 610, 4);
  pages.line("Ibid.", 66, 612, 8);
  pages.page();
  pages.block({"them until it was dark."}, 60, 60);
  EXPECT_EQ(pages.text(NoteReading::Inline),
            "The people of the valley went to the sea\n(See the Annals.) and waited there. (Ibid.) "
            "And nobody came for\nthem until it was dark.\n");
}

TEST(PdfNotes, ThatHadNoRoomAreOnThePageBehind) {
  Pages pages;
  pages.page();
  pages.block({"The people of the valley^7 went to the sea.^8"}, 60, 60);
  pages.block({"7. See the Annals."}, 60, 600, 8);
  pages.page();
  pages.block({"They were never^9 seen again."}, 60, 60);
  pages.block({"8. Ibid.", "9. It is said."}, 60, 600, 8);
  EXPECT_EQ(
      pages.text(NoteReading::Inline),
      "The people of the valley (See the Annals.) went to the sea. (Ibid.)\n\nThey were never "
      "(It is said.) seen again.\n");
}

TEST(PdfNotes, SmallLinesWithoutAMarkStay) {
  Pages pages;
  std::mt19937 random(3);
  pages.page();
  pages.block(lines_of_text(random, 12), 60, 60);
  pages.block({"1 cup of flour", "2 cups of milk"}, 60, 600, 8);
  EXPECT_THAT(pages.text(), HasSubstr("1 cup of flour\n2 cups of milk"));
}

TEST(PdfNotes, OfTheTextsSizeAreKnownByTheirRaisedLabels) {
  Pages pages;
  pages.page();
  pages.block({"The people of the valley went.^1 Then they", "waited for the"}, 60, 60);
  pages.block({"^1 See the Annals", "of the harbour."}, 60, 600);
  pages.page();
  pages.block({"ships that were to come."}, 60, 60);
  EXPECT_EQ(pages.text(),
            "The people of the valley went. Then they\nwaited for the\nships that were to come.\n");
}

TEST(PdfNotes, OfTheTextsSizeAreKnownByMarksThatAreNoPowers) {
  const auto read = [](const std::string& mark) {
    Pages pages;
    pages.page();
    pages.block({"The people of the valley" + mark + " went to the sea.", "Then they waited."}, 60,
                60);
    pages.block({"2. See the Annals", "of the harbour."}, 60, 600);
    return pages.text();
  };
  EXPECT_THAT(read("^2"), Not(HasSubstr("Annals")));
  EXPECT_THAT(read(".2"), Not(HasSubstr("Annals")));
  EXPECT_THAT(read(" of 40 m^2"), HasSubstr("2. See the Annals\nof the harbour."));
  EXPECT_THAT(read(""), HasSubstr("2. See the Annals\nof the harbour."));
}

TEST(PdfText, GoesOnOverColumnsAndPages) {
  Pages pages;
  pages.page();
  pages.block({"The man went to the old", "house that stood by the"}, 60, 60);
  pages.block({"river, and it rained there.", "He slept in the cold house"}, 320, 60);
  pages.page();
  pages.block({"London had built for him.", "It was warm."}, 60, 60);
  EXPECT_EQ(
      pages.text(),
      "The man went to the old\nhouse that stood by the\nriver, and it rained there.\nHe slept "
      "in the cold house\nLondon had built for him.\nIt was warm.\n");
}

TEST(PdfText, LargeFirstLettersAreOfTheirWords) {
  const auto text_with = [](const std::string& capital, const std::string& rest) {
    Pages pages;
    pages.page();
    pages.line("Chapter 1", 60, 40, 18);
    pages.line(capital, 60, 70, 32);
    pages.block({rest, "and the people of the valley slept."}, 80, 76);
    pages.block({"It was late for all of them, after all."}, 60, 110);
    return pages.text();
  };
  EXPECT_THAT(text_with("T", "his morning was cold"),
              HasSubstr("Chapter 1\n\nThis morning was cold\nand"));
  EXPECT_THAT(text_with("T", "HIS MORNING was cold"), HasSubstr("\n\nTHIS MORNING was"));
  EXPECT_THAT(text_with("\u201CW", "e go,\u201D he said"), HasSubstr("\n\n\u201CWe go,"));
  EXPECT_THAT(text_with("I", "t was cold"), HasSubstr("\n\nIt was"));
  EXPECT_THAT(text_with("I", "was cold"), HasSubstr("\n\nI was"));
  EXPECT_THAT(text_with("A", "fter that it was cold"), HasSubstr("\n\nAfter that"));
  EXPECT_THAT(text_with("A", "long road lay there"), HasSubstr("\n\nA long road"));
  EXPECT_THAT(text_with("A", "Man came"), HasSubstr("A\n\n"));
}

}  // namespace
}  // namespace mynah
