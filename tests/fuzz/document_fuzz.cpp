// Any bytes as a document: plain text, Markdown, HTML, the pages of a PDF, an EPUB.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/mapped_file.h"
#include "text/documents/document.h"
#include "text/documents/epub.h"
#include "text/documents/html.h"
#include "text/documents/pdf_layout.h"
#include "text/documents/pdf_words.h"
#include "text/utf8.h"

namespace mynah {
namespace {

void check(const Document& document) {
  for (const Chapter& chapter : document.chapters) {
    MYNAH_CHECK(replace_invalid_utf8(chapter.text) == chapter.text, "text is UTF-8");
    MYNAH_CHECK(!chapter.text.empty(), "a chapter has text");
  }
}

}  // namespace
}  // namespace mynah

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  const auto how = static_cast<mynah::NoteReading>(data[0] / 5 % 3);
  switch (data[0] % 5) {
    case 0:
      mynah::check(mynah::read_plain_text(text, how));
      break;
    case 1:
      mynah::check(mynah::read_markdown(text, how));
      break;
    case 2:
      mynah::check(mynah::read_html(text, how));
      break;
    case 3: {
      mynah::PdfLayoutReader layout;
      layout.push(text);
      std::vector<mynah::PdfPage> pages = layout.finish();
      mynah::leave_out_edges(pages);
      const mynah::PdfLineJoiner lines(pages, [](const std::string& word) { return word < "m"; });
      mynah::take_footnotes(pages, how, lines);
      const std::string joined = mynah::text_of_pages(pages, lines);
      MYNAH_CHECK(mynah::replace_invalid_utf8(joined) == joined, "text is UTF-8");
      break;
    }
    default: {
      const auto book = mynah::read_epub(
          mynah::MappedFile::from_bytes(std::as_bytes(std::span(text)), "a.epub"), how);
      if (book) {
        mynah::check(*book);
      }
    }
  }
  return 0;
}
