// What Markdown has inside a line: emphasis, code, links.
#include <algorithm>
#include <string>

#include "text/spoken/characters.h"
#include "text/spoken/markup.h"
#include "text/spoken/markup_marks.h"

namespace mynah {
namespace {

// How long a span may be; what has not ended by then is text.
constexpr size_t kLongestSpan = 1000;

}  // namespace

MarkupFilter::Taken MarkupFilter::read_emphasis() {
  const std::string_view text = rest();
  const size_t run = std::min({text.find_first_not_of(text[0]), text.size(), kLongestSpan});
  if (run == text.size() && !final_ && run < kLongestSpan) {
    return 0;
  }
  const char next = run < text.size() ? text[run] : ' ';
  const bool spaced = is_ascii_space(before_) && is_ascii_space(next);
  const bool inside = is_word_byte(before_) && is_word_byte(next);
  const bool digits = is_ascii_digit(before_) && is_ascii_digit(next);
  const bool kept =
      text[0] == '~' ? run != 2 : (text[0] == '_' ? inside || spaced : spaced || digits);
  return kept ? literal(run) : run;
}

MarkupFilter::Taken MarkupFilter::read_code_span() {
  const std::string_view text = rest();
  const size_t run = std::min({text.find_first_not_of('`'), text.size(), kLongestSpan});
  const std::string fence(run, '`');
  // A span ends with its paragraph at the latest.
  const std::string_view whole = text.substr(0, kLongestSpan);
  const std::string_view bounded = whole.substr(0, whole.find("\n\n"));
  const bool ended = final_ || whole.size() == kLongestSpan || bounded.size() < whole.size();
  size_t close = run;
  while ((close = bounded.find(fence, close)) != std::string_view::npos) {
    const size_t end = std::min(bounded.find_first_not_of('`', close), bounded.size());
    if (end == bounded.size() && !ended) {
      return 0;
    }
    if (end - close == run) {
      put_plain(text.substr(run, close - run), run);
      return end;
    }
    close = end;
  }
  return ended ? literal(run) : 0;
}

// Pandoc's "^[a note]" is left out.
MarkupFilter::Taken MarkupFilter::read_spelled_note() {
  const std::string_view text = rest();
  if (text.size() < 2 && !final_) {
    return 0;
  }
  const size_t close =
      text.starts_with("^[") ? closing_bracket(text.substr(1), final_) : std::string_view::npos;
  if (close == 0) {
    return 0;
  }
  return close == std::string_view::npos ? literal(1) : close + 2;
}

// [text](target), ![text](target), [text][name], [^1]; [word](/IPA/) and other brackets stay.
MarkupFilter::Taken MarkupFilter::read_link() {
  const std::string_view text = rest();
  const size_t open = text[0] == '!' ? 1 : 0;
  if (open == 1 && (text.size() < 2 || text[1] != '[')) {
    return text.size() < 2 && !final_ ? 0 : literal(1);
  }
  const size_t close = closing_bracket(text.substr(open), final_);
  if (close == 0) {
    return 0;
  }
  if (close == std::string_view::npos) {
    return literal(1);
  }
  const std::string_view label = text.substr(open + 1, close - 1);
  const size_t behind = open + close + 1;
  if (behind == text.size() && !final_) {
    return 0;
  }
  if (label.starts_with('^')) {
    return behind;  // a note's reference
  }
  const char kind = behind < text.size() ? text[behind] : ' ';
  if (kind != '(' && kind != '[') {
    return literal(open + 1);
  }
  const std::string_view target = text.substr(behind, kLongestLink);
  const size_t end = target.substr(0, target.find('\n')).find(kind == '(' ? ')' : ']');
  if (end == std::string_view::npos) {
    const bool more =
        !final_ && target.size() < kLongestLink && target.find('\n') == std::string_view::npos;
    return more ? 0 : literal(open + 1);
  }
  if (target.starts_with("(/") && target[end - 1] == '/' && end > 3) {
    return literal(behind + end + 1);
  }
  put(strip_markup(label, options_), open + 1, label.size());
  return behind + end + 1;
}

}  // namespace mynah
