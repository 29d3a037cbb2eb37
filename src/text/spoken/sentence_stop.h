// What is around a stop, for the sentence splitter.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/ascii.h"
#include "text/spoken/abbreviations.h"
#include "text/spoken/sentences.h"
#include "text/spoken/tokens.h"
#include "text/unicode.h"

namespace mynah {

struct SentenceSplitter::Stop {
  size_t begin = 0;
  size_t end = 0;         // behind the run and its closing quotes and brackets
  bool free = false;      // a stop that needs no space
  bool single = false;    // one "." alone
  bool dots = false;      // an ellipsis
  bool closed = false;    // quotes or brackets close behind it
  bool complete = true;   // the run ends within the text
  bool note_cut = false;  // a note's reference may begin where the text ends
  size_t next = 0;        // the first character of what follows, behind opening quotes
  char32_t next_char = 0;
  std::string_view next_word;
  std::string_view text;  // all that is there

  [[nodiscard]] bool next_is_digit() const { return decimal_digit(next_char).has_value(); }

  [[nodiscard]] bool next_is_starter() const { return is_sentence_starter(ascii_lower(next_word)); }

  [[nodiscard]] bool next_is_verse() const;
  [[nodiscard]] bool next_is_direction_of() const;

  static Stop at(std::string_view text, size_t begin);
};

}  // namespace mynah
