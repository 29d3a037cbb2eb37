// PDF, by the program pdftotext.
#pragma once

#include <string>

#include "base/result.h"
#include "text/documents/document.h"

namespace mynah {

// The text as pdftotext (poppler-utils) finds it, in reading order, without running heads and feet
// and the numbers of pages, with words whole that are cut at a line's end (pdf_words.h), and with
// footnotes where `how` says (pdf_layout.h).
// Environment where the program is not there; InvalidInput for what it does not read, and for a PDF
// without text (a scan).
Result<Document> read_pdf(const std::string& path, NoteReading how = NoteReading::Skip,
                          const KnownWord& is_word = {});

}  // namespace mynah
