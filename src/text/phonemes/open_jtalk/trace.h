// What open_jtalk writes of a text with -ot: its words, and the phonemes of the whole.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mynah::open_jtalk {

// A word or a mark, as NAIST's dictionary has it.
struct Morpheme {
  std::string surface;   // as it was read: digits in numerals, ASCII as full-width forms
  std::string kind;      // part of speech: "名詞", "記号"
  std::string subkind;   // "接尾", "数", "*"
  std::string kana;      // how it is pronounced, in katakana; "*", or itself where it is a mark
  int moras = 0;         // 0: nothing is said
  bool chained = false;  // one accent phrase with the one before
};

struct Trace {
  std::vector<Morpheme> morphemes;
  std::vector<std::string> phonemes;  // "k", "o", "N", "pau", without the silence at both ends
};

// Of a text with nothing to be said it writes nothing. Damage and other texts: InvalidInput.
[[nodiscard]] Result<Trace> parse_trace(std::string_view text);

}  // namespace mynah::open_jtalk
