#include "text/spoken/markup.h"

#include <algorithm>
#include <utility>

#include "text/spoken/characters.h"
#include "text/spoken/front_matter.h"
#include "text/spoken/markup_marks.h"

namespace mynah {
namespace {

// How long a line with marks may be; what has not ended by then is text.
constexpr size_t kLongestLine = 8192;

}  // namespace

MarkupFilter::MarkupFilter(MarkupOptions options) : options_(options) {}

std::string MarkupFilter::push(std::string_view markup) {
  pending_ += markup;
  return drain();
}

std::string MarkupFilter::finish() {
  final_ = true;
  std::string text = drain();
  return text;
}

std::string MarkupFilter::drain() {
  while (at_ < pending_.size()) {
    const Taken taken = step();
    if (taken == 0) {
      break;
    }
    before_ = pending_[at_ + taken - 1];
    at_ += taken;
  }
  base_ += at_;
  pending_.erase(0, at_);
  at_ = 0;
  return std::exchange(out_, {});
}

std::string_view MarkupFilter::rest() const {
  return std::string_view(pending_).substr(at_);
}

// `bytes` of markup at an offset from here became this text.
void MarkupFilter::put(std::string_view text, size_t offset, size_t bytes) {
  const size_t source = base_ + at_ + offset;
  if (!item_.empty() && text.find_first_not_of(" \n") != std::string_view::npos) {
    put(std::exchange(item_, {}), offset, 0);
  }
  for (const char c : text) {
    breaks_ = c == '\n' ? std::min(breaks_ + 1, 2) : (c == ' ' ? breaks_ : 0);
  }
  out_ += text;
  source_.add(text.size(), {source, source + bytes});
}

void MarkupFilter::put_plain(std::string_view text, size_t offset) {
  put(text, offset, text.size());
}

void MarkupFilter::paragraph(size_t offset) {
  while (breaks_ < 2) {
    put("\n", offset, 0);
  }
}

MarkupFilter::Taken MarkupFilter::literal(size_t bytes) {
  if (hidden_.is_open()) {
    return bytes;  // a "<" that begins no tag
  }
  put_plain(rest().substr(0, bytes), 0);
  return bytes;
}

MarkupFilter::Taken MarkupFilter::step() {
  if (!skipped_.empty()) {
    return skip_element();
  }
  if (hidden_.is_open()) {
    return skip_hidden();
  }
  if (options_.kind == MarkupKind::Markdown) {
    if (!begun_) {
      return pass_front_matter();
    }
    if (!fence_.empty()) {
      return skip_code_line();
    }
    if (note_ != Note::None) {
      return skip_note_line();
    }
    if (line_begin_) {
      return begin_line();
    }
    if (heading_ && rest().starts_with(' ')) {
      return end_heading();
    }
  }
  return read_character();
}

MarkupFilter::Taken MarkupFilter::pass_front_matter() {
  const FrontMatter facts = read_front_matter(rest(), final_);
  if (facts.state == FrontMatter::State::NeedsMore) {
    return 0;
  }
  begun_ = true;
  return facts.state == FrontMatter::State::Whole ? facts.bytes : step();
}

// "## Title ##": the hashes behind it are marks as well (CommonMark 0.31, 4.2).
MarkupFilter::Taken MarkupFilter::end_heading() {
  const std::string_view line = line_here();
  if (line.empty()) {
    return 0;
  }
  const std::string_view end = trimmed(line);
  return !end.empty() && end.find_first_not_of('#') == std::string_view::npos
             ? line.size() - (line.ends_with('\n') ? 1 : 0)
             : read_character();
}

std::string_view MarkupFilter::line_here() const {
  const std::string_view text = rest().substr(0, kLongestLine);
  const size_t end = text.find('\n');
  if (end != std::string_view::npos) {
    return text.substr(0, end + 1);
  }
  return final_ || text.size() == kLongestLine ? text : std::string_view();
}

// A footnote's definition goes on over lines that are indented, and over others up to a blank one.
MarkupFilter::Taken MarkupFilter::skip_note_line() {
  const std::string_view text = line_here();
  if (text.empty()) {
    return 0;
  }
  const size_t bytes = text.size();
  const std::string_view line = trimmed(text);
  const bool within = before_ != '\n';  // of a line that was too long
  if (within) {
    return bytes;
  }
  if (line.empty()) {
    paragraph(0);
    note_ = Note::Blank;
  } else if (!is_ascii_space(text[0]) && (note_ == Note::Blank || is_note(line))) {
    note_ = Note::None;
    return step();
  }
  return bytes;
}

// The marks at the begin of a line. One that has none begins its text.
MarkupFilter::Taken MarkupFilter::begin_line() {
  const std::string_view text = rest();
  const size_t indent = text.find_first_not_of(" \t");
  if (indent == std::string_view::npos) {
    return final_ || text.size() > kLongestLine ? text.size() : 0;
  }
  const std::string_view line = text.substr(indent);
  if (line[0] == '\n' || line[0] == '\r') {
    const size_t bytes = indent + (line.starts_with("\r\n") ? 2 : 1);
    paragraph(0);
    return bytes;
  }
  // Marks that need the line to its end.
  if (std::string_view("`~|-*_=[").find(line[0]) != std::string_view::npos) {
    const size_t end = text.substr(0, kLongestLine).find('\n');
    const bool whole = end != std::string_view::npos || (final_ && text.size() < kLongestLine);
    if (!whole && text.size() < kLongestLine) {
      // A list's item and emphasis are known at once.
      const bool item = line.size() > 2 && bullet_length(line) > 0 && line[2] != line[0] &&
                        line[2] != ' ' && line[2] != '[';
      const bool emphasis = line.size() > 3 && (line[0] == '*' || line[0] == '_') &&
                            line.find_first_not_of("*_-= ") != std::string_view::npos &&
                            bullet_length(line) == 0;
      const bool span = line.size() > 3 && line[0] == '`' && !line.starts_with("```");
      if (!item && !emphasis && !span) {
        return 0;
      }
    } else if (whole) {
      const size_t bytes = end == std::string_view::npos ? text.size() : end + 1;
      if (const Taken taken = read_line(text.substr(0, bytes), bytes)) {
        return taken;
      }
    }
  }
  if (!final_ && line.size() < 8 && line.find('\n') == std::string_view::npos) {
    return 0;  // "###### " and "123. " are known by then
  }
  if (line[0] == '>') {
    return indent + (line.size() > 1 && line[1] == ' ' ? 2 : 1);
  }
  const size_t hashes = std::min(line.find_first_not_of('#'), line.size());
  if (hashes > 0 && hashes < 7 && (hashes == line.size() || line[hashes] == ' ')) {
    paragraph(0);
    heading_ = true;
    line_begin_ = false;
    return indent + std::min(hashes + 1, line.size());
  }
  line_begin_ = false;
  if (const size_t bullet = bullet_length(line)) {
    paragraph(0);
    return indent + bullet;
  }
  if (is_numbered(line)) {
    paragraph(0);
  }
  return indent > 0 ? indent : step();
}

// Lines that are marks as a whole; 0 where it is none of them.
MarkupFilter::Taken MarkupFilter::read_line(std::string_view line, size_t bytes) {
  if (const std::string_view fence = fence_of(line); !fence.empty()) {
    fence_ = fence;
    begin_code();
    return bytes;
  }
  if (is_rule(line)) {
    paragraph(0);
    return bytes;
  }
  const std::string_view text = trimmed(line);
  if (text.size() > 1 && text[0] == '|') {
    return read_table_row(text, bytes);
  }
  if (is_note(text)) {
    note_ = Note::Open;
    return bytes;
  }
  if (is_link_definition(text)) {
    return bytes;  // nothing to say
  }
  return 0;
}

MarkupFilter::Taken MarkupFilter::read_table_row(std::string_view line, size_t bytes) {
  if (line.find_first_not_of("|-: ") == std::string_view::npos) {
    return bytes;
  }
  paragraph(0);
  std::string row;
  size_t at = 1;
  while (at < line.size()) {
    size_t end = at;
    while (end < line.size() && line[end] != '|') {
      end += line[end] == '\\' ? 2 : 1;
    }
    end = std::min(end, line.size());
    const std::string cell = strip_markup(trimmed(line.substr(at, end - at)), options_);
    row += cell.empty() || row.empty() ? cell : ", " + cell;
    at = end + 1;
  }
  put(row, 0, bytes);
  paragraph(bytes);
  return bytes;
}

void MarkupFilter::begin_code() {
  paragraph(0);
  if (options_.code == CodeBlocks::Named) {
    put("Code block.", 0, 0);
    paragraph(0);
  }
}

MarkupFilter::Taken MarkupFilter::skip_code_line() {
  const std::string_view text = line_here();
  if (text.empty()) {
    return 0;
  }
  const size_t bytes = text.size();
  const std::string_view line = trimmed(text);
  if (line.starts_with(fence_) && line.find_first_not_of(fence_[0]) == std::string_view::npos) {
    fence_.clear();
    paragraph(0);
  } else if (options_.code == CodeBlocks::Read) {
    put_plain(text, 0);
  }
  return bytes;
}

MarkupFilter::Taken MarkupFilter::read_character() {
  const char c = rest()[0];
  if (c == '<') {
    return read_tag();
  }
  if (c == '&') {
    return read_entity();
  }
  if (options_.kind == MarkupKind::Html) {
    if (!is_ascii_space(c)) {
      return literal(1);
    }
    if (breaks_ == 0 && !is_ascii_space(before_)) {
      put(" ", 0, 1);
    }
    return 1;
  }
  switch (c) {
    case '\n':
      return read_newline();
    case '*':
    case '_':
    case '~':
      return read_emphasis();
    case '`':
      return read_code_span();
    case '[':
    case '!':
      return read_link();
    case '^':
      return read_spelled_note();
    case '\\': {
      if (rest().size() < 2) {
        return final_ ? literal(1) : 0;
      }
      // "\[" is left for the inline marks, which know it too.
      const char next = rest()[1];
      const bool escape = next > ' ' && next < 0x7F && !is_word_byte(next) && next != '[';
      put_plain(rest().substr(escape ? 1 : 0, 1), escape ? 1 : 0);
      return escape ? 2 : 1;
    }
    default:
      return literal(1);
  }
}

MarkupFilter::Taken MarkupFilter::read_newline() {
  put_plain("\n", 0);
  line_begin_ = true;
  if (heading_) {
    paragraph(0);
    heading_ = false;
  }
  return 1;
}

std::string strip_markup(std::string_view markup, const MarkupOptions& options) {
  MarkupFilter filter(options);
  std::string text = filter.push(markup);
  return text + filter.finish();
}

}  // namespace mynah
