#include "text/spoken/text_around.h"

#include <algorithm>
#include <array>

#include "text/spoken/calendar.h"
#include "text/spoken/characters.h"
#include "text/spoken/tokens.h"
#include "text/spoken/word_tables.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {

bool is_line_break(char32_t c) {
  return c == '\n' || c == '\f' || c == '\v' || c == 0x2028 || c == 0x2029;
}

std::string_view word_at(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && end - at < kWordBytes && is_word_byte(text[end])) {
    ++end;
  }
  return text.substr(at, end - at);
}

std::string_view word_before(std::string_view text, size_t begin, size_t end) {
  size_t at = end;
  while (at > begin && end - at < kWordBytes &&
         (is_word_byte(text[at - 1]) || text[at - 1] == '.' || text[at - 1] == '-')) {
    --at;
  }
  while (at < end && (text[at] == '.' || text[at] == '-')) {
    ++at;
  }
  return text.substr(at, end - at);
}

bool are_single_letters(std::string_view dotted) {
  for (size_t i = 0; i < dotted.size(); ++i) {
    if (i % 2 == 0 ? !is_ascii_letter(dotted[i]) : dotted[i] != '.') {
      return false;
    }
  }
  return dotted.size() % 2 == 1;
}

bool has_capital_parts(std::string_view dotted) {
  for (size_t i = 0; i < dotted.size(); ++i) {
    if ((i == 0 || dotted[i - 1] == '.') && !is_ascii_upper(dotted[i])) {
      return false;
    }
  }
  return true;
}

std::string_view last_abbreviated(std::string_view word) {
  constexpr std::string_view kDash = "\u2013";
  const size_t hyphen = word.rfind('-');
  const size_t dash = word.rfind(kDash);
  const bool dashed =
      dash != std::string_view::npos && (hyphen == std::string_view::npos || hyphen < dash);
  const size_t mark = dashed ? dash : hyphen;
  if (mark == std::string_view::npos || mark == 0) {
    return word;
  }
  const std::string_view part = word.substr(mark + (dashed ? kDash.size() : 1));
  const char before = word[mark - 1];
  // "Non-U.S.", "ex-Gov."
  const bool letters = (part.size() > 2 && are_single_letters(part)) ||
                       (!part.empty() && is_ascii_upper(part[0]) &&
                        among(WordList{"before-titles"}, ascii_lower(word.substr(0, mark))));
  const bool apart = before == '.' || is_ascii_digit(before) ||
                     static_cast<unsigned char>(before) >= 0x80 || letters ||
                     !calendar_name(part).empty();
  return apart && !part.empty() && !is_ascii_digit(part[0]) ? part : word;
}

bool is_number_before(std::string_view text, size_t begin, size_t end) {
  for (int spaces = 0; spaces < 2 && end > begin && text[end - 1] == ' '; ++spaces) {
    --end;
  }
  const std::string_view before = text.substr(begin, end - begin);
  if (!before.empty() && is_ascii_digit(before.back())) {
    return true;
  }
  return std::ranges::any_of(
      std::to_array<std::string_view>({"\u00BC", "\u00BD", "\u00BE", "\u2153", "\u2154", "\u215B",
                                       "\u215C", "\u215D", "\u215E"}),
      [&](std::string_view fraction) { return before.ends_with(fraction); });
}

bool is_list_mark(std::string_view text) {
  size_t at = 0;
  while (at < text.size() && at < 3 && is_ascii_digit(text[at])) {
    ++at;
  }
  if (at > 0) {
    return text.size() > at + 1 && (text[at] == '.' || text[at] == ')') && text[at + 1] == ' ';
  }
  for (const std::string_view mark :
       {"-", "*", "+", "\u2022", "\u2023", "\u25E6", "\u2013", "\u2014"}) {
    if (text.starts_with(mark)) {
      return text.size() > mark.size() && text[mark.size()] == ' ';
    }
  }
  return text.size() > 2 && is_ascii_letter(text[0]) && text[1] == ')' && text[2] == ' ';
}

Gap gap_at(std::string_view text, size_t at) {
  Gap gap{.end = at};
  while (gap.end < text.size()) {
    const Utf8Step step = next_code_point(text.substr(gap.end));
    if (!step.valid || !is_white_space(step.code_point)) {
      break;
    }
    gap.line_breaks += is_line_break(step.code_point) ? 1 : 0;
    gap.paragraph = gap.paragraph || step.code_point == '\f' || step.code_point == 0x2029;
    gap.end += step.bytes;
    if (gap.end - at >= kSpaceBytes) {
      gap.full = true;
      break;
    }
  }
  gap.paragraph = gap.paragraph || gap.line_breaks > 1;
  return gap;
}

size_t gap_before(std::string_view text, size_t begin, size_t end) {
  while (end > begin) {
    size_t at = end - 1;
    while (at > begin && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) {
      --at;
    }
    const Utf8Step step = next_code_point(text.substr(at, end - at));
    if (!step.valid || at + step.bytes != end || !is_white_space(step.code_point)) {
      break;
    }
    end = at;
  }
  return end;
}

}  // namespace mynah
