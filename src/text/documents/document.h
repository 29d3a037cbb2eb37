// Document: a long text as chapters, out of the files that people read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mynah {

struct Chapter {
  std::string title;  // "": it has none
  std::string
      text;  // UTF-8, paragraphs apart by a blank line; the title is said where it stands here too
};

struct Document {
  std::string title;  // these three: "" where the file does not say
  std::string author;
  std::string language;           // BCP 47, as the file has it
  std::vector<Chapter> chapters;  // none without text
  // What the file names and lacks, a sentence each without its name: the rest can be read.
  std::vector<std::string> warnings{};
};

// What becomes of notes: footnotes, endnotes and their marks in the text.
enum class NoteReading : uint8_t {
  Skip,   // they are not read
  End,    // at the end of the chapter whose marks lead to them
  Inline  // at their marks, in brackets
};

// Whether a dictionary has a word, which is given in small letters.
using KnownWord = std::function<bool(const std::string&)>;

// Whether a file of this name is read as a document: .txt, .md, .html, .epub, .pdf, .srt, .vtt and
// their kin.
[[nodiscard]] bool has_document_extension(const std::string& path);

// Whether it is read as subtitles: .srt, .vtt, .ass, .ssa, .sbv, .ttml, .dfxp.
[[nodiscard]] bool has_subtitle_extension(const std::string& path);

// Reads a file by its name's end. NotFound, Io; InvalidInput where it is not what its name says;
// Environment where a program is missing that the format needs (pdftotext). By `is_word`, of
// English, words of a PDF are told apart that a line's end cuts; without it by the rest of the
// document.
Result<Document> read_document(const std::string& path, NoteReading how = NoteReading::Skip,
                               const KnownWord& is_word = {});

// Plain text. A chapter begins at a line of its own such as "Chapter 4", "CHAPTER IV. The Storm",
// "Part Two" or "Prologue", with a blank line before it; a text without such lines is one chapter.
// Long ones without are cut into parts at the ends of paragraphs, so that work on them can be kept.
Document read_plain_text(std::string_view text, NoteReading how = NoteReading::Skip);

// Markdown: chapters begin at headings of the highest level that comes twice; their text is plain
// (text/spoken/markup.h). Front matter says title, author and language where no heading of the
// first level says the title.
Document read_markdown(std::string_view text, NoteReading how = NoteReading::Skip);

}  // namespace mynah
