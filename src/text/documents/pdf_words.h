// The words of a PDF's lines: small ones above or below the line, and those that a line's end cuts.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "text/documents/document.h"
#include "text/documents/pdf_layout.h"

namespace mynah {

// Points, as in PdfLine.
struct PdfWord {
  double x0 = 0;
  double x1 = 0;
  double y1 = 0;  // its lower edge
  double height = 0;
  std::string text{};
};

// Words as a line, its text and its height: a large letter is joined with what follows close behind
// it; raised numbers are the characters that are ("m²", "valley.¹"), and small ones below the line
// are of their word ("H2O").
void fill_line(PdfLine& line, const std::vector<PdfWord>& words);

// Moves raised numbers that stand as lines of their own into the lines that they stand in or
// before. `words` are those of each line; what is moved leaves none.
void join_raised(const std::vector<PdfLine>& lines, std::vector<std::vector<PdfWord>>& words);

// Whether a text begins with a small letter, of Latin or another script.
[[nodiscard]] bool begins_small(std::string_view text);

// Joins lines of a document, and makes words whole that were cut at a line's end. The hyphen stays
// where the word has it elsewhere in the document, or where a dictionary has both parts and not the
// whole: "well-known", "paragraph".
class PdfLineJoiner {
 public:
  PdfLineJoiner(const std::vector<PdfPage>& pages, KnownWord is_word);

  // Whether the document has a word of small letters, with its hyphens.
  [[nodiscard]] bool has(const std::string& word) const { return words_.contains(word); }

  // Adds a line behind another, and a space or a line's end between them where no word was cut.
  void append(std::string& text, std::string_view line, std::string_view between) const;

 private:
  void add(const PdfLine& line);
  [[nodiscard]] bool keeps_hyphen(std::string_view before, std::string_view behind) const;
  [[nodiscard]] bool is_compound(const std::string& first, const std::string& second) const;

  std::set<std::string> words_;
  KnownWord is_word_;  // none: no dictionary, or one of another language
};

}  // namespace mynah
