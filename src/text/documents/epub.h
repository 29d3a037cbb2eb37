// EPUB: a zip archive of XHTML pages.
#pragma once

#include <memory>

#include "base/mapped_file.h"
#include "base/result.h"
#include "text/documents/document.h"

namespace mynah {

// EPUB 2 and 3 (W3C, "EPUB Open Container Format 3.3" and "EPUB Packages 3.3"; IDPF, "OPF 2.0.1"):
// the pages of the spine in order, those left out that are outside of the reading order, covers and
// tables of contents. Chapters are those of the table of contents, navigation document or NCX,
// each at the place in its page that the entry names; what stands before the first of a page, and a
// page without an entry, goes on with the chapter before it. Without a table, chapters begin at the
// headings of the highest level that comes twice, else at each page. Pages that are named and not
// there are warnings. InvalidInput for what is no EPUB, one
// that is encrypted, and one whose pages unpack to more than 256 MB.
Result<Document> read_epub(std::shared_ptr<const MappedFile> file,
                           NoteReading how = NoteReading::Skip);

}  // namespace mynah
