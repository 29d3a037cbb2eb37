#include "text/spoken/word_borders.h"

#include <string_view>

#include "text/scripts.h"
#include "text/spoken/among.h"
#include "text/spoken/characters.h"
#include "text/unicode.h"

namespace mynah {
namespace {

bool belongs_to_word(char32_t c) {
  return is_letter(c) || is_number(c) || is_mark(c);
}

// Quotes that open and close alike, and the apostrophe's two.
bool is_even_quote(char32_t c) {
  return among(U"\"'\u2018\u2019", c);
}

bool is_written_without_spaces(char32_t c) {
  const Script* const script = foreign_script(c);
  if (script == nullptr) {
    return false;
  }
  const std::string_view language = script->language;
  return language == "zh" || language == "ja" || language == "th" || language == "km";
}

}  // namespace

bool is_word_border(char32_t before, char32_t behind) {
  const bool ends = belongs_to_word(before) || is_spaced_stop(before) ||
                    among(U",;:%\u2030", before) || (is_closer(before) && !is_even_quote(before));
  const bool currency = among(U"$\u00A3\u00A5", behind) || (behind >= 0x20A0 && behind <= 0x20CF);
  const bool begins = belongs_to_word(behind) || currency || among(U"#@\u00A7", behind) ||
                      (is_opener(behind) && !is_even_quote(behind));
  return ends && begins &&
         !(is_written_without_spaces(before) && is_written_without_spaces(behind));
}

}  // namespace mynah
