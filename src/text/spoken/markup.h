// Markdown and HTML become plain text as they come. A mark is looked at when all of it is there: a
// language model that sends "**bo" and then "ld**" is read as one that sends both at once.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "text/spoken/html_elements.h"
#include "text/spoken/speak_parts.h"

namespace mynah {

enum class MarkupKind : unsigned char {
  Markdown,  // CommonMark with GitHub's tables and strikethrough, and HTML inside it
  Html,
};

enum class CodeBlocks : unsigned char {
  Named,    // "Code block." in their place
  Skipped,  // nothing
  Read,     // their text
};

struct MarkupOptions {
  MarkupKind kind = MarkupKind::Markdown;
  CodeBlocks code = CodeBlocks::Named;
};

// Front matter at the begin, definitions of footnotes with their text, and the title of an HTML
// page are left out. What remains: emphasis without its stars, headings and list items as
// paragraphs of their own, the text of links and images, code spans as they are, a table's rows
// with commas between the cells, HTML without tags, comments, scripts and styles, entities as
// characters. Items of HTML's ordered lists have their numbers as Markdown's have ("1. "). What is
// hidden is left out (html_elements.h). [word](/IPA/) and [pause:1s] stay for InlineMarks.
//
// Pushing a text in any pieces gives the same as pushing it whole. What waits for its other half is
// bounded (a link 500 bytes, a table's row 8 KB); beyond that it is text.
class MarkupFilter {
 public:
  explicit MarkupFilter(MarkupOptions options = {});

  // Plain text that is known; the texts of all calls together are the whole.
  [[nodiscard]] std::string push(std::string_view markup);

  // The rest. Nothing is pushed behind it.
  [[nodiscard]] std::string finish();

  // Where a stretch of all plain text so far came from.
  [[nodiscard]] ByteRange source_of(ByteRange plain) const { return source_.source_of(plain); }

 private:
  // What a look at the pending markup came to: bytes taken, or 0 where more is needed.
  using Taken = size_t;

  std::string drain();
  Taken step();
  Taken pass_front_matter();
  Taken begin_line();
  Taken end_heading();
  Taken skip_note_line();
  Taken read_line(std::string_view line, size_t bytes);
  Taken read_table_row(std::string_view line, size_t bytes);
  // The rest of the line with its end, as much as a line may have; empty: more is needed.
  [[nodiscard]] std::string_view line_here() const;
  Taken skip_code_line();
  Taken skip_element();
  Taken skip_hidden();
  Taken read_character();
  Taken read_emphasis();
  Taken read_code_span();
  Taken read_link();
  Taken read_spelled_note();
  Taken read_tag();
  Taken read_entity();
  Taken read_newline();

  void follow_tag(std::string_view tag);
  void follow_list_tag(std::string_view tag, std::string_view name, bool closes);
  // Whether a tag is inside of what is hidden, or begins it.
  bool take_hidden(std::string_view tag, std::string_view name, bool closes);
  void begin_code();
  void put(std::string_view text, size_t offset, size_t bytes);
  void put_plain(std::string_view text, size_t offset);
  void paragraph(size_t offset);
  [[nodiscard]] std::string_view rest() const;
  Taken literal(size_t bytes);

  MarkupOptions options_;
  std::string pending_;  // markup that is not yet read
  size_t at_ = 0;        // read so far of it
  size_t base_ = 0;      // bytes of markup before it
  std::string out_;
  SourceMap source_;
  char before_ = '\n';  // the last character of markup that was read
  int breaks_ = 2;      // line breaks at the end of the plain text; 2 at its begin
  bool line_begin_ = true;
  bool heading_ = false;  // the line is a heading
  std::string fence_;     // the fence that ends the code block; empty outside of one
  std::string skipped_;   // the element whose content is skipped: "script"
  HiddenElement hidden_;
  ListNumbers lists_;
  std::string item_;  // what stands before the text of a list's item: "1. "
  enum class Note : unsigned char { None, Open, Blank };  // Blank: behind a blank line of it
  Note note_ = Note::None;                                // inside a footnote's definition
  bool begun_ = false;                                    // front matter was looked for
  bool final_ = false;
};

// A whole text's plain text.
[[nodiscard]] std::string strip_markup(std::string_view markup, const MarkupOptions& options = {});

}  // namespace mynah
