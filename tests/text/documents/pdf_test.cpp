// PDF: running heads, pages' numbers and large first letters; no line of the text is lost.
#include <algorithm>
#include <functional>
#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/process.h"
#include "test_paths.h"
#include "text/documents/document.h"
#include "text/documents/html.h"
#include "text/documents/pdf_layout.h"

namespace mynah {
namespace {

using testing::HasSubstr;
using testing::Not;

// Pages as pdftotext tells of them, line by line.
class Pages {
 public:
  void page() {
    end();
    xml_ += "<page width=\"612\" height=\"792\">";
    open_ = true;
  }

  // A line in a block of its own, its words 5 points a letter wide.
  void line(const std::string& text, double x, double y, double height = 10) {
    xml_ += "<flow><block>";
    in_block(text, x, y, height);
    xml_ += "</block></flow>";
  }

  // Lines that follow each other.
  void block(const std::vector<std::string>& lines, double x, double y, double height = 10) {
    xml_ += "<flow><block>";
    for (const std::string& text : lines) {
      in_block(text, x, y, height);
      y += 1.4 * height;
    }
    xml_ += "</block></flow>";
  }

  std::string text() {
    end();
    PdfLayoutReader reader;
    for (size_t at = 0; at < xml_.size(); at += 1000) {
      reader.push(std::string_view(xml_).substr(at, 1000));
    }
    std::vector<PdfPage> pages = reader.finish();
    leave_out_edges(pages);
    return text_of_pages(pages);
  }

 private:
  void end() {
    xml_ += open_ ? "</page>\n" : "";
    open_ = false;
  }

  void in_block(const std::string& text, double x, double y, double height) {
    const double wide = 0.5 * height;
    const auto letters = static_cast<double>(std::ranges::count_if(
        text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
    xml_ += fmt::format("<line xMin=\"{}\" yMin=\"{}\" xMax=\"{}\" yMax=\"{}\">", x, y,
                        x + wide * letters, y + height);
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find(' ', at), text.size());
      xml_ +=
          fmt::format("<word xMin=\"{}\" yMin=\"{}\" xMax=\"{}\" yMax=\"{}\">{}</word>",
                      x + wide * static_cast<double>(at), y, x + wide * static_cast<double>(end),
                      y + height, text.substr(at, end - at));
      at = end + 1;
    }
    xml_ += "</line>";
  }

  std::string xml_;
  bool open_ = false;
};

// Lines of words that no other page has, as a page of text.
std::vector<std::string> lines_of_text(std::mt19937& random, int count) {
  static const std::vector<std::string> kWords = {"river",  "stone",   "lamp", "garden", "horse",
                                                  "winter", "evening", "road", "silver", "captain"};
  std::vector<std::string> lines;
  for (int i = 0; i < count; ++i) {
    std::string line = i % 2 == 0 ? "The" : "and";
    for (int k = 0; k < 7; ++k) {
      line += " " + kWords[random() % kWords.size()];
    }
    lines.push_back(line + fmt::format(" {}{}", random() % 100000, i % 4 == 3 ? "." : ""));
  }
  return lines;
}

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

std::string html(std::string_view page) {
  const Document document = read_html(page);
  return document.chapters.empty() ? "" : document.chapters[0].text;
}

TEST(Html, LargeFirstLettersAreOfTheirWords) {
  EXPECT_EQ(html("<p><span class='dropcap'>W</span>inter came.</p>"), "Winter came.");
  EXPECT_EQ(html("<p><span class='drop-cap'>W</span>\n inter came.</p>"), "Winter came.");
  EXPECT_EQ(html("<p><span class='dropcap'>I</span> was cold.</p>"), "I was cold.");
  EXPECT_EQ(html("<p><span class='dropcap'>I</span>t was cold.</p>"), "It was cold.");
  EXPECT_EQ(html("<p><span class='dropcap'>A</span> long road.</p>"), "A long road.");
  EXPECT_EQ(html("<p><span class='dropcap'>\u201CW</span>e go.</p>"), "\u201CWe go.");
  EXPECT_EQ(html("<p><img src='w.png' alt='W'/>inter came early.</p>"), "Winter came early.");
  EXPECT_EQ(html("<p><img src='w.png' alt='W'/>INTER CAME early.</p>"), "WINTER CAME early.");
  EXPECT_EQ(html("<p><img src='w.png' alt='W'/>Winter came early.</p>"), "Winter came early.");
  EXPECT_EQ(html("<div><img src='w.png' alt='W'/></div><p>inter came early.</p>"),
            "Winter came early.");
  EXPECT_EQ(html("<p class='initial'>W</p><p>inter came.</p>"), "Winter came.");
  EXPECT_EQ(html("<p>X</p><p>Then it ended.</p><p>Y</p>"), "X\n\nThen it ended.\n\nY");
  EXPECT_EQ(html("<h2>I</h2><p>t is a title.</p>"), "I\n\nt is a title.");
  EXPECT_EQ(html("<p>Plan <img alt='B'/>was good.</p>"), "Plan was good.");
  EXPECT_EQ(html("<p><span class='dropcap'>O</span> Lord, hear.</p><p>Then</p>"),
            "O Lord, hear.\n\nThen");
  EXPECT_EQ(html("<p>A</p>"), "A");
  EXPECT_EQ(html("<p><span class='dropcap'>W</span></p>"), "W");
}

TEST(Html, LargeFirstLettersOfTheSharedCase) {
  const std::string path = test::shared_path("cases/speak/12-drop-cap/caps.html");
  MYNAH_SKIP_WITHOUT(path);
  EXPECT_EQ(read_document(path)->chapters[0].text, "Winter came early.");
}

}  // namespace
}  // namespace mynah
