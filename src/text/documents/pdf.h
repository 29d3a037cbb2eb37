// PDF, by the program pdftotext.
#pragma once

#include <string>

#include "base/result.h"
#include "text/documents/document.h"

namespace mynah {

// The text as pdftotext (poppler-utils) finds it, in reading order; what stands at the top or foot
// of most pages, and their numbers, is left out, and words that are cut at a line's end are joined.
// Environment where the program is not there; InvalidInput for what it does not read, and for a PDF
// without text (a scan).
Result<Document> read_pdf(const std::string& path);

// The text of pages, apart by form feeds, as one: exposed for its tests.
[[nodiscard]] std::string join_pages(std::string_view pages);

}  // namespace mynah
