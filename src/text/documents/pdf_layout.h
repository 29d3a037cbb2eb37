// The pages of a PDF as lines with their places, from what `pdftotext -bbox-layout` prints.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/documents/document.h"

namespace mynah {

class PdfLineJoiner;

// Points (1/72 inch) from the page's left upper corner, as the program has them.
struct PdfLine {
  double x0 = 0;
  double x1 = 0;
  double y0 = 0;
  double y1 = 0;
  double height = 0;      // of its words: the size of its letters, more or less
  std::string text{};     // words with single spaces
  size_t block = 0;       // lines of one block follow each other; of the document
  bool left_out = false;  // a running head or foot, a page's number, a note
};

struct PdfNote {
  std::string label{};  // "12", "*"
  std::string text{};
};

struct PdfPage {
  double width = 0;
  double height = 0;
  std::vector<PdfLine> lines{};  // in the order of reading
  std::vector<PdfNote> notes{};  // that the text has as "[Footnote 12: ...]" behind its paragraph
};

// Takes the program's output in pieces; a page is read when it is whole.
class PdfLayoutReader {
 public:
  void push(std::string_view xml);

  // Bytes of text so far.
  [[nodiscard]] size_t bytes() const { return bytes_; }

  [[nodiscard]] std::vector<PdfPage> finish();

 private:
  void read_page(std::string_view xml);

  std::string pending_;
  std::vector<PdfPage> pages_;
  size_t blocks_ = 0;
  size_t bytes_ = 0;
};

// The usual height of a line's letters, by how much text has it; 0 of nothing.
[[nodiscard]] double text_height(const std::vector<PdfPage>& pages);

// Marks running heads and feet, and the numbers of pages: rows at the edges of pages that come
// again at their place, numbers that count with the pages, and what stands where such rows do.
void leave_out_edges(std::vector<PdfPage>& pages);

// Takes footnotes out: small lines at the foot of a column whose labels are marks in the text above
// them, and their marks. What becomes of both is as `how` says: at End each page has its notes, and
// their marks are "[12]".
void take_footnotes(std::vector<PdfPage>& pages, NoteReading how, const PdfLineJoiner& lines);

// The lines that remain as text: paragraphs apart by blank lines, words that were cut at the end of
// a line whole, large first letters with their words.
[[nodiscard]] std::string text_of_pages(const std::vector<PdfPage>& pages,
                                        const PdfLineJoiner& lines);

}  // namespace mynah
