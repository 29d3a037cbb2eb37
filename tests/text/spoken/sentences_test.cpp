#include "text/spoken/sentences.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "much.h"

namespace mynah {
namespace {

// The sentences of a text, "/" between them and "//" where a paragraph ends.
std::string split(std::string_view text, const SentenceOptions& options = {}) {
  std::string joined;
  for (const Sentence& sentence : split_sentences(text, options)) {
    joined += sentence.text;
    joined += sentence.after == Sentence::Break::Paragraph ? " // " : " / ";
  }
  return joined.substr(0, joined.empty() ? 0 : joined.find_last_not_of(" /") + 1);
}

struct Case {
  std::string_view text;
  std::string_view sentences;
};

class SentenceCases : public testing::TestWithParam<Case> {};

TEST_P(SentenceCases, AreSplitAsAReaderWould) {
  EXPECT_EQ(split(GetParam().text), GetParam().sentences);
}

INSTANTIATE_TEST_SUITE_P(
    Plain, SentenceCases,
    testing::Values(Case{"It rains. We stay.", "It rains. / We stay."},
                    Case{"Really?! Yes... Perhaps.", "Really?! / Yes... / Perhaps."},
                    Case{"Well... perhaps not.", "Well... perhaps not."},
                    Case{"no capitals here. none at all. just this",
                         "no capitals here. / none at all. / just this"},
                    Case{"no punctuation at all", "no punctuation at all"}, Case{"", ""},
                    Case{"  \n\n ", ""}, Case{"...", "..."},
                    Case{"HELLO. THIS IS ALL. THE END.", "HELLO. / THIS IS ALL. / THE END."}));

INSTANTIATE_TEST_SUITE_P(
    Abbreviations, SentenceCases,
    testing::Values(
        Case{"Dr. Smith met Mrs. Jones. They spoke.", "Dr. Smith met Mrs. Jones. / They spoke."},
        Case{"The U.S. Senate met. In the U.S. The law is new.",
             "The U.S. Senate met. / In the U.S. / The law is new."},
        Case{"Fruit, e.g. apples, i.e. food. Good.", "Fruit, e.g. apples, i.e. food. / Good."},
        Case{"See Fig. 3 for this. It shows a fig. Then more.",
             "See Fig. 3 for this. / It shows a fig. / Then more."},
        Case{"At 3 p.m. EST we go. At 5 p.m. We stop.",
             "At 3 p.m. EST we go. / At 5 p.m. / We stop."},
        Case{"At 9 a.m. on Monday. Yes.", "At 9 a.m. on Monday. / Yes."},
        Case{"J. K. Rowling and J.R.R. Tolkien wrote. I read.",
             "J. K. Rowling and J.R.R. Tolkien wrote. / I read."},
        Case{"A book by J. Smith. It is long.", "A book by J. Smith. / It is long."},
        Case{"It has vitamin C. Eat it.", "It has vitamin C. / Eat it."},
        Case{"It was you and I. Then he came.", "It was you and I. / Then he came."},
        Case{"Room No. 5 is free. No. I want it.", "Room No. 5 is free. / No. / I want it."},
        Case{"Apples, pears, etc. are here. Nuts, etc. Go on.",
             "Apples, pears, etc. are here. / Nuts, etc. / Go on."},
        Case{"He lives on Elm St. The house is red.", "He lives on Elm St. / The house is red."},
        Case{"St. John came. He sat.", "St. John came. / He sat."},
        Case{"Apple Inc. sells it. I work at Apple Inc. It is large.",
             "Apple Inc. sells it. / I work at Apple Inc. / It is large."},
        Case{"Roe v. Wade was heard. It was long.", "Roe v. Wade was heard. / It was long."},
        Case{"pp. 5-10 and vol. IV. Next.", "pp. 5-10 and vol. IV. / Next."}));

INSTANTIATE_TEST_SUITE_P(
    ForgottenSpaces, SentenceCases,
    testing::Values(Case{"What is this.Yes it is.He left in 1999.She stayed.",
                         "What is this. / Yes it is. / He left in 1999. / She stayed."},
                    Case{"It cost $5.It was cheap.Yes.But why?Because.",
                         "It cost $5. / It was cheap. / Yes. / But why? / Because."},
                    Case{"It fell 3.5%.Then Node.Js rose.", "It fell 3.5%. / Then Node.Js rose."},
                    Case{"Really?Yes! It's so.It's done.",
                         "Really? / Yes! / It's so. / It's done."},
                    Case{"\"It was the end.\"He left.", "\"It was the end.\" / He left."},
                    Case{"Node.js, System.Out.print and example.Com are names.",
                         "Node.js, System.Out.print and example.Com are names."},
                    Case{"Mr.Smith and J.Smith met ASP.NET and 5.Five.",
                         "Mr.Smith and J.Smith met ASP.NET and 5.Five."}));

INSTANTIATE_TEST_SUITE_P(
    ShortForms, SentenceCases,
    testing::Values(
        Case{"We saw Pt. Reyes. Attn. HR dept. here. Ash Ct. is closed. Take Rte. 66 now.",
             "We saw Pt. Reyes. / Attn. HR dept. here. / Ash Ct. is closed. / Take Rte. 66 now."},
        Case{"Non-U.S. citizens and UK-U.S. talks ended.",
             "Non-U.S. citizens and UK-U.S. talks ended."},
        Case{"He is 5 ft. 6 in. tall. It has 2 lb. 3 oz. of it.",
             "He is 5 ft. 6 in. tall. / It has 2 lb. 3 oz. of it."},
        Case{"He was ill. John came from Peoria, Ill. on Monday.",
             "He was ill. / John came from Peoria, Ill. on Monday."},
        Case{"In 1990 A. Smith left. It was 300 K. Scientists knew. He said A. Lee came.",
             "In 1990 A. Smith left. / It was 300 K. / Scientists knew. / He said A. Lee came."},
        Case{"See Fed. R. Civ. P. 12. The Ct. App. reversed. Then s. 172 and Sch. 2.",
             "See Fed. R. Civ. P. 12. / The Ct. App. reversed. / Then s. 172 and Sch. 2."},
        Case{"Group A beat Group B. Smith won. From A to Z. Grade A. It is John's. 5 came.",
             "Group A beat Group B. / Smith won. / From A to Z. / Grade A. / It is John's. / 5 "
             "came."},
        Case{
            "From N. Dakota to S. Korea. Jan.-Mar. sales fell. My no. is 5. He said no. then left.",
            "From N. Dakota to S. Korea. / Jan.-Mar. sales fell. / My no. is 5. / He said no. / "
            "then left."},
        Case{"See App. B and Bks. I\u2013III. Sec. of State Lee came. So 5! = 120.",
             "See App. B and Bks. I\u2013III. / Sec. of State Lee came. / So 5! = 120."}));

INSTANTIATE_TEST_SUITE_P(
    StopsThatEndNothing, SentenceCases,
    testing::Values(Case{"Use a 5 in. drill bit. Or a 3/8 in. drill. It is 5 in. Then go.",
                         "Use a 5 in. drill bit. / Or a 3/8 in. drill. / It is 5 in. / Then go."},
                    Case{"He came in. then he left.", "He came in. / then he left."},
                    Case{"A 12-in. pan, 100 cu. in. engine, 6 mos. old.",
                         "A 12-in. pan, 100 cu. in. engine, 6 mos. old."},
                    Case{"Add 2 3/4 c. milk and \u00bd c. cream. Stir.",
                         "Add 2 3/4 c. milk and \u00bd c. cream. / Stir."},
                    Case{"See S. aureus and E. coli. It is plan B. maybe not.",
                         "See S. aureus and E. coli. / It is plan B. / maybe not."},
                    Case{"I paid Rs. 500 for it. Go.", "I paid Rs. 500 for it. / Go."},
                    Case{"From Jan.-Mar. 2020 and Apr.\u2013Jun. 2021. Then no more.",
                         "From Jan.-Mar. 2020 and Apr.\u2013Jun. 2021. / Then no more."},
                    Case{"See p. xii and pp. iv\u2013x. On p. Then.",
                         "See p. xii and pp. iv\u2013x. / On p. / Then."},
                    Case{"She (b. 1950, d. 2001) wrote. It is plan b. 5 more came.",
                         "She (b. 1950, d. 2001) wrote. / It is plan b. / 5 more came."},
                    Case{"Send it to apt. #5C. Now.", "Send it to apt. #5C. / Now."},
                    Case{"Go to 12 W. 5th St. and 9 E. Main St. Take I-5 N. to it.",
                         "Go to 12 W. 5th St. and 9 E. Main St. Take I-5 N. to it."},
                    Case{"The No. of items is 5. No. Of course not.",
                         "The No. of items is 5. / No. / Of course not."},
                    Case{"Read 1 Cor. 13:4 and Gen. 1:1. I met Sam. 5 came.",
                         "Read 1 Cor. 13:4 and Gen. 1:1. / I met Sam. / 5 came."},
                    Case{"I met Sam. 13:30 is late. See 1 Sam. 3:10. Elm St. is closed.",
                         "I met Sam. / 13:30 is late. / See 1 Sam. 3:10. / Elm St. is closed."}));

INSTANTIATE_TEST_SUITE_P(
    Numbers, SentenceCases,
    testing::Values(Case{"Pi is 3.14 or so. Costs $9.99. Yes.",
                         "Pi is 3.14 or so. / Costs $9.99. / Yes."},
                    Case{"II. The End\n\nMIX. It was Louis XIV. He went.",
                         "II. The End // MIX. / It was Louis XIV. / He went."},
                    Case{"It was 1999. Then came 2000.", "It was 1999. / Then came 2000."},
                    Case{"Use version 1.2.3. It works.", "Use version 1.2.3. / It works."},
                    Case{"Visit example.com. Or www.a.org/b.html?x=1. Then go.",
                         "Visit example.com. / Or www.a.org/b.html?x=1. / Then go."},
                    Case{"Open main.cpp. Read it.", "Open main.cpp. / Read it."},
                    Case{"It was so.[12] Then it was not.", "It was so.[12] / Then it was not."}));

INSTANTIATE_TEST_SUITE_P(
    Quotes, SentenceCases,
    testing::Values(Case{"\"Go.\" He went. \"Really?\" he said. \"Yes!\" Fine.",
                         "\"Go.\" / He went. / \"Really?\" he said. / \"Yes!\" / Fine."},
                    Case{"\u201CI know.\u201D \u201CDo you?\u201D she asked.",
                         "\u201CI know.\u201D / \u201CDo you?\u201D she asked."},
                    Case{"(It was late.) We left.", "(It was late.) / We left."},
                    Case{"He left (was it late?) and slept.",
                         "He left (was it late?) and slept."}));

INSTANTIATE_TEST_SUITE_P(
    Lines, SentenceCases,
    testing::Values(
        Case{"Chapter One\nIt was a dark night.\n\nThe end",
             "Chapter One / It was a dark night. // The end"},
        Case{"To buy:\n1. Milk\n2. Eggs and\n   bread\n- Tea",
             "To buy: / 1. Milk / 2. Eggs and\n   bread / - Tea"},
        Case{"This line was broken because it was full of words,\nand this is\nthe rest of it.",
             "This line was broken because it was full of words,\nand this is\nthe rest of it."},
        Case{"It was a long line of a text that was wrapped by\nHenry the printer.",
             "It was a long line of a text that was wrapped by\nHenry the printer."},
        Case{"\u2014 Hello.\n\u2014 Who is there?\n\u2014 Me",
             "\u2014 Hello. / \u2014 Who is there? / \u2014 Me"},
        Case{"One\r\n\r\nTwo\r\n\r\n\r\nThree", "One // Two // Three"},
        Case{"One\fTwo", "One // Two"}));

INSTANTIATE_TEST_SUITE_P(
    OtherScripts, SentenceCases,
    testing::Values(
        Case{"\u4f60\u597d\u3002\u4f60\u662f\u8c01\uff1f\u300c\u6211\u3002\u300d\u597d",
             "\u4f60\u597d\u3002 / \u4f60\u662f\u8c01\uff1f / \u300c\u6211\u3002\u300d / \u597d"},
        Case{"\u0643\u064a\u0641\u061f \u0628\u062e\u064a\u0631.",
             "\u0643\u064a\u0641\u061f / \u0628\u062e\u064a\u0631."},
        Case{"\u092f\u0939\u0964 \u0935\u0939\u0965", "\u092f\u0939\u0964 / \u0935\u0939\u0965"},
        Case{"\u00c9t\u00e9. \u00c0 demain.", "\u00c9t\u00e9. / \u00c0 demain."}));

TEST(Sentences, OrdinalsOfOtherLanguagesEndNothing) {
  const std::string_view text = "Am 3. Oktober ist frei. Es gibt 3. Mehr nicht.";
  EXPECT_EQ(split(text, {.language = "de"}), "Am 3. Oktober ist frei. / Es gibt 3. Mehr nicht.");
  EXPECT_EQ(split("I have 3. More is too many."), "I have 3. / More is too many.");
}

TEST(Sentences, DoNotEndAtShortFormsBesideNumbers) {
  const std::vector<std::array<std::string, 2>> cases = {
      {"de",
       "Siehe Nr. 5 und S. 12. / Es sind 2,5 Mio. Euro. / Am 3.10. kam er. / Es kostet 1.250. / "
       "Dann ging er."},
      {"es", "La pág. 12 y el 3.er piso. / Cuesta 1.250. / Luego salió."},
      {"it", "Il n. 5 e la pag. 12. / Poi va via."},
      {"fr", "Le 3 janv. 2024 à Paris. / Il a 20 ans."},
      {"pl", "W 2024 r. było 5 tys. osób. / Str. 12 jest pusta. / To był 2024 r. / Potem nic."},
      {"ru", "В 2024 г. было 5 тыс. руб. за 10 кг. / Это 2024 г. / Потом ничего."},
      {"cs", "Má 5 tis. Kč. / Dne 25. 12. 2023 přišel."},
      {"tr", "2. Dünya Savaşı bitti. / Saat 15.30. / Sonra gitti."}};
  for (const auto& [language, sentences] : cases) {
    std::string text = sentences;
    for (size_t at = text.find(" / "); at != std::string::npos; at = text.find(" / ", at)) {
      text.erase(at, 2);
    }
    EXPECT_EQ(split(text, {.language = language}), sentences) << language;
  }
}

constexpr std::string_view kMixed =
    "Dr. J. K. Smith said \u201CNo.\u201D Then... he left!\n\nChapter 2\nIt was 3 p.m. in the U.S. "
    "The end?!\n1. One\n2. Two \u4f60\u597d\u3002\u597d \u0964 e.g. this. \xE2\x80 broken. "
    "\u2028Done";

constexpr std::string_view kShort =
    "A 5 in. bit, 12-in. pan. 2 \u00bd c. milk. S. aureus. Rs. 500. Jan.\u2013Mar. 2020. p. xii, "
    "b. "
    "1950. apt. #5C. 12 W. 5th St. I-5 N. to it. No. of items. No. off. 1 Cor. 13:4. Sam. 5 came. "
    "p. x";

constexpr std::string_view kPhrases =
    "In 1990 A. Smith v. B. Lee. Fed. R. Civ. P. 12. The Ct. App. ruled. Fed. R. is. In the 3rd c. "
    "B.C. wall. The 2nd c. AD. On Mar. 3 K. Lee. H.R. 5 and S. 26. N. Dakota. Smith, J. (2019). "
    "The 3rd ed. (x). My no. is 5. From A to Z. Go. 10 A. at. 6 p.m. Tue.-Sat. A 6-in. OLED. est. "
    "\u00a35. Tel. +44. It's. 5 go. 4 ft. NE of. s. 17";

class SentencePieces : public testing::TestWithParam<std::string_view> {};

INSTANTIATE_TEST_SUITE_P(Texts, SentencePieces, testing::Values(kMixed, kShort, kPhrases));

TEST_P(SentencePieces, GiveTheSameAsTheWhole) {
  const std::string_view text = GetParam();
  const std::vector<Sentence> whole = split_sentences(text, {.max_bytes = 40});
  ASSERT_GT(whole.size(), 8U);
  for (size_t size = 1; size < 20; ++size) {
    SentenceSplitter splitter({.max_bytes = 40});
    std::vector<Sentence> pieces;
    for (size_t at = 0; at < text.size(); at += size) {
      std::ranges::move(splitter.push(text.substr(at, size)), std::back_inserter(pieces));
    }
    std::ranges::move(splitter.finish(), std::back_inserter(pieces));
    ASSERT_EQ(pieces.size(), whole.size()) << size;
    for (size_t i = 0; i < pieces.size(); ++i) {
      EXPECT_EQ(pieces[i].text, whole[i].text) << size;
      EXPECT_EQ(pieces[i].begin, whole[i].begin) << size;
      EXPECT_EQ(pieces[i].after, whole[i].after) << size << " " << pieces[i].text;
    }
  }
}

TEST(Sentences, RangesAreTheSourceAndLeaveOutOnlySpace) {
  size_t end = 0;
  for (const Sentence& sentence : split_sentences(kMixed)) {
    EXPECT_EQ(kMixed.substr(sentence.begin, sentence.end - sentence.begin), sentence.text);
    const std::string_view between = kMixed.substr(end, sentence.begin - end);
    EXPECT_EQ(between.find_first_not_of(" \n\u2028"), std::string_view::npos) << between;
    end = sentence.end;
  }
  EXPECT_EQ(end, kMixed.size());
}

// Its end came with the line's end or without, by where a piece ended.
TEST(Sentences, WhiteSpaceOfAnyScriptIsNoPartOfThem) {
  const std::string text = "So it was\u2028\n\u2028\n\u00a0\u3000Then it rained.\u2003\u2029";
  for (size_t step = 1; step <= text.size(); ++step) {
    SentenceSplitter splitter;
    std::vector<Sentence> pieces;
    for (size_t at = 0; at < text.size(); at += step) {
      std::ranges::move(splitter.push(std::string_view(text).substr(at, step)),
                        std::back_inserter(pieces));
    }
    std::ranges::move(splitter.finish(), std::back_inserter(pieces));
    ASSERT_EQ(pieces.size(), 2U) << step;
    EXPECT_EQ(pieces[0].text, "So it was") << step;
    EXPECT_EQ(pieces[1].text, "Then it rained.") << step;
  }
}

TEST(Sentences, AreGivenAsSoonAsTheyAreKnownToEnd) {
  SentenceSplitter splitter;
  EXPECT_TRUE(splitter.push("It rains").empty());
  EXPECT_TRUE(splitter.push(".").empty());
  EXPECT_EQ(splitter.push(" We stay at").size(), 1U);
  EXPECT_EQ(splitter.finish().size(), 1U);
  EXPECT_TRUE(splitter.finish().empty());
}

TEST(Sentences, EndlessOnesAreCutAtCommasThenSpacesThenCharacters) {
  const SentenceOptions options{.max_bytes = 30};
  EXPECT_EQ(split("aaaa bbbb cccc dddd, eeee ffff gggg", options),
            "aaaa bbbb cccc dddd, / eeee ffff gggg");
  EXPECT_EQ(split("aaaa bbbb cccc dddd eeee ffff gggg", options),
            "aaaa bbbb cccc dddd eeee ffff / gggg");
  std::string word;
  for (int i = 0; i < 40; ++i) {
    word += "\u00e9";
  }
  for (const Sentence& sentence : split_sentences(word, options)) {
    EXPECT_LE(sentence.text.size(), 30U);
    EXPECT_EQ(sentence.text.size() % 2, 0U);
  }
}

// Each takes minutes where a stop or a space is looked at again for every byte.
TEST(Sentences, TwoMegabytesOfAnythingAreRead) {
  for (const std::string_view unit :
       {"a", ".", " ", "\n", "a.", "A. ", "\"", ".\"", "e.g. ", "1.", "\u3002", "\xE2"}) {
    std::string text;
    while (text.size() < test::much(2'000'000)) {
      text += unit;
    }
    size_t bytes = 0;
    SentenceSplitter splitter;
    for (size_t at = 0; at < text.size(); at += 1000) {
      for (const Sentence& sentence : splitter.push(std::string_view(text).substr(at, 1000))) {
        bytes = sentence.end;
        EXPECT_LE(sentence.text.size(), 1400U);
      }
    }
    for (const Sentence& sentence : splitter.finish()) {
      bytes = sentence.end;
    }
    EXPECT_EQ(bytes > 0, unit.find_first_not_of(" \n") != std::string_view::npos) << unit;
  }
}

}  // namespace
}  // namespace mynah
