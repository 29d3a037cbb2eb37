// Text cut into what espeak-ng is given and the marks between, which it gives no phonemes for.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/phonemes/phonemizer.h"

namespace mynah::espeak {

// A word or a mark.
struct Piece {
  size_t begin = 0;  // bytes of the text
  size_t end = 0;
  bool space_after = false;
  char32_t mark = 0;   // of a mark: the character itself, a full stop for one of any script
  std::string spoken;  // of a word: what may be said, without anything that is a command
};

// Words end at white space and at marks. A dot, comma or colon between letters or digits is part of
// a word ("3.14", "10:30"), and so is the dot after one that has another dot ("a.m.") where a small
// letter follows.
[[nodiscard]] std::vector<Piece> cut(std::string_view text);

}  // namespace mynah::espeak
