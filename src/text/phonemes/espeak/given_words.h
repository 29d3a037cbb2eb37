// Texts some of whose words have phonemes of their user's.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/result.h"
#include "text/phonemes/espeak/alphabets.h"
#include "text/phonemes/phonemizer.h"

namespace mynah::espeak {

// The words of a text in order: those that are given, in a voice's alphabet, and between them what
// `add(begin, end, words)` adds of the bytes from `begin` to `end`. `spaced`: a space is behind
// every given word, whatever the text has there. Errors: InvalidInput where the given ones are out
// of order or of the text, and those of `add`.
template <class Add>
Result<std::vector<PhonemeWord>> words_around(std::string_view text,
                                              std::span<const GivenPhonemes> given,
                                              Alphabet alphabet, bool spaced, Add add) {
  std::vector<PhonemeWord> words;
  size_t begin = 0;
  for (const GivenPhonemes& own : given) {
    if (own.begin < begin || own.end < own.begin || own.end > text.size()) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("wanted given phonemes in order within {} bytes, found some for "
                              "bytes {} to {}",
                              text.size(), own.begin, own.end));
    }
    MYNAH_TRY_STATUS(add(begin, own.begin, words));
    words.push_back({.text = std::string(text.substr(own.begin, own.end - own.begin)),
                     .phonemes = from_given(own.phonemes, alphabet),
                     .space_after = spaced || (own.end < text.size() && text[own.end] == ' '),
                     .begin = own.begin,
                     .end = own.end});
    begin = own.end;
  }
  MYNAH_TRY_STATUS(add(begin, text.size(), words));
  return words;
}

}  // namespace mynah::espeak
