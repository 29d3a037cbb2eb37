// Pages of a PDF as pdftotext tells of them, for tests.
#pragma once

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "text/documents/document.h"
#include "text/documents/pdf_layout.h"
#include "text/documents/pdf_words.h"

namespace mynah::test {

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

  // Words that a dictionary has beside those of the document.
  void dictionary(std::set<std::string> words) {
    dictionary_ = [words = std::move(words)](const std::string& word) {
      return words.contains(word);
    };
  }

  std::string text(NoteReading how = NoteReading::Skip) {
    end();
    PdfLayoutReader reader;
    for (size_t at = 0; at < xml_.size(); at += 1000) {
      reader.push(std::string_view(xml_).substr(at, 1000));
    }
    std::vector<PdfPage> pages = reader.finish();
    leave_out_edges(pages);
    const PdfLineJoiner lines(pages, dictionary_);
    take_footnotes(pages, how, lines);
    return text_of_pages(pages, lines);
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
      // "valley.^1": the number stands above the line, "H_2": below it.
      const size_t small = std::min(text.find_first_of("^_", at), end);
      const double border = x + wide * static_cast<double>(small);
      if (small > at) {
        word(text.substr(at, small - at), x + wide * static_cast<double>(at), border, y, height);
      }
      if (small < end) {
        word(text.substr(small + 1, end - small - 1), border, x + wide * static_cast<double>(end),
             y + (text[small] == '^' ? -0.2 : 0.6) * height, 0.6 * height);
      }
      at = end + 1;
    }
    xml_ += "</line>";
  }

  void word(const std::string& text, double x0, double x1, double y, double height) {
    xml_ += fmt::format("<word xMin=\"{}\" yMin=\"{}\" xMax=\"{}\" yMax=\"{}\">{}</word>", x0, y,
                        x1, y + height, text);
  }

  std::string xml_;
  bool open_ = false;
  KnownWord dictionary_;
};

// Lines of words that no other page has, as a page of text.
inline std::vector<std::string> lines_of_text(std::mt19937& random, int count) {
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

}  // namespace mynah::test
