// PDF: running heads, pages' numbers and large first letters; no line of the text is lost.
#include <algorithm>
#include <functional>
#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/process.h"
#include "pdf_pages.h"
#include "test_paths.h"
#include "text/documents/document.h"
#include "text/documents/html.h"

namespace mynah {
namespace {

using test::lines_of_text;
using test::Pages;
using testing::HasSubstr;
using testing::Not;

// What stands at an edge of a page; "" nothing.
struct HeadOfPage {
  std::string text;
  double x = 60;
};

using Heads = std::function<std::vector<HeadOfPage>(int page)>;

std::string roman(int number) {
  static const std::vector<std::string> kRoman = {"i",   "ii",   "iii", "iv", "v",  "vi",
                                                  "vii", "viii", "ix",  "x",  "xi", "xii"};
  return kRoman[static_cast<size_t>(number - 1)];
}

struct Kind {
  const char* name;
  int pages;
  Heads heads;  // above
  Heads feet;   // below
};

const std::vector<Kind>& kinds() {
  static const Heads none = [](int) { return std::vector<HeadOfPage>(); };
  static const auto number = [](int page) { return std::to_string(page); };
  static const std::vector<Kind> kKinds = {
      {"one head, numbers below", 6, [](int) { return std::vector<HeadOfPage>{{"THE HARBOUR"}}; },
       [](int page) { return std::vector<HeadOfPage>{{number(page), 300}}; }},
      {"numbers and titles in two lines beside each other", 12,
       [](int page) {
         return page % 2 == 1 ? std::vector<HeadOfPage>{{number(page)}, {"THE HARBOUR", 90}}
                              : std::vector<HeadOfPage>{{"CHAPTER ONE", 300}, {number(page), 400}};
       },
       none},
      {"number and title in one line", 8,
       [](int page) {
         return std::vector<HeadOfPage>{
             {page % 2 == 1 ? number(page) + " The Harbour" : "A. Writer " + number(page)}};
       },
       none},
      {"heads of four pages, alternating", 4,
       [](int page) {
         return std::vector<HeadOfPage>{{page % 2 == 1 ? "THE HARBOUR" : "A. WRITER"}};
       },
       [](int page) { return std::vector<HeadOfPage>{{number(page)}}; }},
      {"Roman numbers below", 12, none,
       [](int page) { return std::vector<HeadOfPage>{{roman(page), 300}}; }},
      {"Page 3 of 12", 5, none,
       [](int page) { return std::vector<HeadOfPage>{{fmt::format("Page {} of 5", page), 280}}; }},
      {"- 3 -", 3, none,
       [](int page) { return std::vector<HeadOfPage>{{fmt::format("- {} -", page), 290}}; }},
      {"Seite 3 | 12 above", 6,
       [](int page) { return std::vector<HeadOfPage>{{fmt::format("Seite {} | 6", page), 290}}; },
       none},
      {"titles of chapters that change", 16,
       [](int page) {
         static const std::vector<std::string> kTitles = {"The Storm", "The Calm", "The Mill",
                                                          "The Road"};
         return std::vector<HeadOfPage>{
             {page % 2 == 1 ? kTitles[static_cast<size_t>(page / 5)] : "The Great Book", 200}};
       },
       [](int page) { return std::vector<HeadOfPage>{{number(page + 40), 300}}; }},
      {"a foot of the publisher", 5, none,
       [](int) { return std::vector<HeadOfPage>{{"www.example.org All rights reserved", 200}}; }},
      {"nothing", 5, none, none},
      {"nothing, one page", 1, none, none}};
  return kKinds;
}

TEST(PdfEdges, LeaveOutHeadsAndKeepEachLineOfTheText) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    for (const Kind& kind : kinds()) {
      Pages pages;
      std::vector<std::string> kept;
      std::vector<std::string> gone;
      for (int page = 1; page <= kind.pages; ++page) {
        pages.page();
        for (const HeadOfPage& head : kind.heads(page)) {
          pages.line(head.text, head.x, 26, 9);
          gone.push_back(head.text);
        }
        double y = kind.heads(page).empty() ? 50 : 64;
        if (page % 4 == 1) {
          // A chapter's title, which is no head though a number stands in it.
          kept.push_back(fmt::format("Chapter {}", page / 4 + 1));
          pages.line(kept.back(), 60, y, 18);
          y += 40;
        }
        const int lines = page == kind.pages ? 1 : 8 + static_cast<int>(random() % 20);
        const auto text = lines_of_text(random, lines);
        pages.block(text, 60, y);
        kept.insert(kept.end(), text.begin(), text.end());
        for (const HeadOfPage& foot : kind.feet(page)) {
          pages.line(foot.text, foot.x, 750, 9);
          gone.push_back(foot.text);
        }
      }
      const std::string text = "\n" + pages.text();
      for (const std::string& line : kept) {
        ASSERT_THAT(text, HasSubstr("\n" + line + "\n")) << kind.name << ", seed " << seed;
      }
      for (const std::string& line : gone) {
        ASSERT_THAT(text, Not(HasSubstr("\n" + line + "\n"))) << kind.name << ", seed " << seed;
      }
    }
  }
}

TEST(PdfEdges, ANumberAmongThoseThatCountIsOneToo) {
  Pages pages;
  std::mt19937 random(1);
  for (int page = 1; page <= 6; ++page) {
    pages.page();
    pages.line(page == 1 ? "i" : std::to_string(page - 1), 300, 30);
    pages.block(lines_of_text(random, 6), 60, 80);
  }
  EXPECT_THAT(pages.text(), Not(HasSubstr("i\n\n")));
}

TEST(PdfEdges, ChaptersOfAPageEachKeepTheirTitles) {
  Pages pages;
  std::mt19937 random(1);
  for (int page = 1; page <= 6; ++page) {
    pages.page();
    pages.line(fmt::format("Chapter {}", page), 60, 40);
    pages.block(lines_of_text(random, 6), 60, 80);
  }
  const std::string text = pages.text();
  for (int page = 1; page <= 6; ++page) {
    EXPECT_THAT(text, HasSubstr(fmt::format("Chapter {}\n\nThe", page)));
  }
}

TEST(PdfEdges, NumbersAtTheFootOfAChaptersFirstPageAreOfThoseAbove) {
  // The last kind: one page of plates, so that nothing else counts as its number does.
  for (const int first : {1, 4}) {
    for (const bool plates : {false, true}) {
      Pages pages;
      std::mt19937 random(1);
      for (int page = 1; page <= 7; ++page) {
        pages.page();
        const std::string number = std::to_string(page == first && plates ? page + 7 : page);
        if (page == first) {
          pages.line("A Title", 200, 90, 18);
          pages.line(number, 300, 750, 9);
        } else {
          pages.line(page % 2 == 0 ? "A. WRITER" : "THE HARBOUR", 260, 26, 9);
          pages.line(number, page % 2 == 0 ? 60 : 500, 26, 9);
        }
        pages.block(lines_of_text(random, 12), 60, 140);
      }
      const std::string text = "\n" + pages.text();
      for (int page = 1; page <= 14; ++page) {
        EXPECT_THAT(text, Not(HasSubstr(fmt::format("\n{}\n", page))));
      }
      EXPECT_THAT(text, HasSubstr("A Title"));
    }
  }
}

TEST(PdfEdges, HeadsOfThreePagesAreKnownByTheirNumbers) {
  Pages pages;
  std::mt19937 random(1);
  for (int page = 1; page <= 3; ++page) {
    pages.page();
    if (page > 1) {
      pages.line(page == 2 ? "A. WRITER" : "THE HARBOUR", 260, 26, 9);
      pages.line(std::to_string(page), page == 2 ? 60 : 500, 26, 9);
    }
    pages.block(lines_of_text(random, 12), 60, 140);
  }
  const std::string text = pages.text();
  EXPECT_THAT(text, Not(HasSubstr("WRITER")));
  EXPECT_THAT(text, Not(HasSubstr("HARBOUR")));
}

TEST(PdfEdges, TheHeadOfTwoPagesIsOne) {
  Pages pages;
  std::mt19937 random(1);
  for (int page = 1; page <= 2; ++page) {
    pages.page();
    pages.line("A. Writer, The Harbour", 360, 26, 9);
    pages.block(lines_of_text(random, 12), 60, 140);
  }
  EXPECT_THAT(pages.text(), Not(HasSubstr("Writer")));
}

std::string shared_pdf(const std::string& name) {
  const auto book = read_document(test::shared_path("cases/speak/" + name));
  if (!book) {
    return book.error().message;
  }
  std::string text;
  for (const Chapter& chapter : book->chapters) {
    text += chapter.text + "\n\n";
  }
  return text;
}

TEST(Pdf, OfTheSharedCasesHasNoHeadsAndWholeWords) {
  MYNAH_SKIP_WITHOUT(test::shared_path("cases/speak/11-pdf-heads/h_a.pdf"));
  if (!find_program("pdftotext")) {
    GTEST_SKIP() << "pdftotext is not installed";
  }
  const std::string digits = shared_pdf("11-pdf-heads/h_a.pdf");
  EXPECT_EQ(digits.find_first_of("0123456789"), std::string::npos);
  EXPECT_THAT(digits, Not(HasSubstr("THE HARBOUR")));
  EXPECT_THAT(digits, Not(HasSubstr("CHAPTER ONE")));
  const std::string four = shared_pdf("11-pdf-heads/h_b.pdf");
  EXPECT_THAT(four, Not(HasSubstr("HARBOUR")));
  EXPECT_THAT(four, Not(HasSubstr("WRITER")));
  EXPECT_EQ(four.find_first_of("0123456789"), std::string::npos);
  const std::string romans = shared_pdf("11-pdf-heads/h_g.pdf");
  for (const char* number : {"\ni\n", "\niv\n", "\nxii\n"}) {
    EXPECT_THAT(romans, Not(HasSubstr(number)));
  }
  // Twelve pages of 14 lines.
  EXPECT_EQ(std::ranges::count(romans, '.'), 12 * 7);
  EXPECT_EQ(std::ranges::count(digits, '.'), 12 * 7);
  EXPECT_EQ(
      shared_pdf("12-drop-cap/dropcap.pdf"),
      "Chapter 1\n\nThis morning the people of the valley got up\nearly. They had a long way to "
      "go and no one\nwished to be late for the fair.\n\nThe second paragraph begins here. It is "
      "short.\n\n");
}

std::string pdf_html(std::string_view page) {
  const Document document = read_html(page);
  return document.chapters.empty() ? "" : document.chapters[0].text;
}

TEST(Html, LargeFirstLettersAreOfTheirWords) {
  EXPECT_EQ(pdf_html("<p><span class='dropcap'>W</span>inter came.</p>"), "Winter came.");
  EXPECT_EQ(pdf_html("<p><span class='drop-cap'>W</span>\n inter came.</p>"), "Winter came.");
  EXPECT_EQ(pdf_html("<p><span class='dropcap'>I</span> was cold.</p>"), "I was cold.");
  EXPECT_EQ(pdf_html("<p><span class='dropcap'>I</span>t was cold.</p>"), "It was cold.");
  EXPECT_EQ(pdf_html("<p><span class='dropcap'>A</span> long road.</p>"), "A long road.");
  EXPECT_EQ(pdf_html("<p><span class='dropcap'>\u201CW</span>e go.</p>"), "\u201CWe go.");
  EXPECT_EQ(pdf_html("<p><img src='w.png' alt='W'/>inter came early.</p>"), "Winter came early.");
  EXPECT_EQ(pdf_html("<p><img src='w.png' alt='W'/>INTER CAME early.</p>"), "WINTER CAME early.");
  EXPECT_EQ(pdf_html("<p><img src='w.png' alt='W'/>Winter came early.</p>"), "Winter came early.");
  EXPECT_EQ(pdf_html("<div><img src='w.png' alt='W'/></div><p>inter came early.</p>"),
            "Winter came early.");
  EXPECT_EQ(pdf_html("<p class='initial'>W</p><p>inter came.</p>"), "Winter came.");
  EXPECT_EQ(pdf_html("<p>X</p><p>Then it ended.</p><p>Y</p>"), "X\n\nThen it ended.\n\nY");
  EXPECT_EQ(pdf_html("<h2>I</h2><p>t is a title.</p>"), "I\n\nt is a title.");
  EXPECT_EQ(pdf_html("<p>Plan <img alt='B'/>was good.</p>"), "Plan was good.");
  EXPECT_EQ(pdf_html("<p><span class='dropcap'>O</span> Lord, hear.</p><p>Then</p>"),
            "O Lord, hear.\n\nThen");
  EXPECT_EQ(pdf_html("<p>A</p>"), "A");
  EXPECT_EQ(pdf_html("<p><span class='dropcap'>W</span></p>"), "W");
}

TEST(Html, LargeFirstLettersOfTheSharedCase) {
  const std::string path = test::shared_path("cases/speak/12-drop-cap/caps.html");
  MYNAH_SKIP_WITHOUT(path);
  EXPECT_EQ(read_document(path)->chapters[0].text, "Winter came early.");
}

}  // namespace
}  // namespace mynah
