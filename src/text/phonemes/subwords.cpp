#include "text/phonemes/subwords.h"

#include <algorithm>

#include "text/phonemes/letters.h"
#include "text/unicode.h"

namespace mynah {
namespace {

template <class Is>
size_t run(std::u32string_view word, size_t at, Is is) {
  size_t end = at;
  while (end < word.size() && is(word[end])) {
    ++end;
  }
  return end - at;
}

char32_t at_or_none(std::u32string_view word, size_t at) {
  return at < word.size() ? word[at] : U'\0';
}

// Digits, with a dot or a comma before any of them that comes after no other.
size_t number_length(std::u32string_view word, size_t at) {
  size_t end = at == 0 && word[0] == U'-' ? 1 : at;
  const size_t begin = end;
  for (;;) {
    const char32_t c = at_or_none(word, end);
    const bool separator = c == U'.' || c == U',';
    if (is_any_digit(c)) {
      ++end;
    } else if (separator && end + 1 < word.size() && is_any_digit(word[end + 1])) {
      end += 2;
    } else {
      return end == begin ? 0 : end - at;
    }
  }
}

// The end of a run of letters and of the single letters behind apostrophes that follow it.
size_t after_apostrophes(std::u32string_view word, size_t end) {
  while (is_apostrophe(at_or_none(word, end)) && end + 1 < word.size() &&
         is_word_letter(word[end + 1])) {
    end += 2;
  }
  return end;
}

// A small letter before a capital ends a part: the shortest such part that begins at `at`.
size_t before_capital(std::u32string_view word, size_t at) {
  const auto ends_part = [&](size_t last) {
    return is_latin_lower(at_or_none(word, last)) && is_latin_upper(at_or_none(word, last + 1));
  };
  size_t end = at;
  for (;; ++end) {
    if (ends_part(end)) {
      return end + 1 - at;
    }
    // Letters, then pairs of an apostrophe and a letter.
    for (size_t pairs = end; is_apostrophe(at_or_none(word, pairs)) && pairs + 1 < word.size() &&
                             is_word_letter(word[pairs + 1]);) {
      pairs += 2;
      if (ends_part(pairs)) {
        return pairs + 1 - at;
      }
    }
    if (end == word.size() || !is_word_letter(word[end])) {
      return 0;
    }
  }
}

// The length of the part that begins at `at`, or 0 where none does.
size_t part_length(std::u32string_view word, size_t at) {
  const char32_t c = word[at];
  if (at == 0 && is_apostrophe(c)) {
    return run(word, at, is_apostrophe);
  }
  if (is_latin_upper(c) && is_latin_upper(at_or_none(word, at + 1)) &&
      is_latin_lower(at_or_none(word, at + 2))) {
    return 1;
  }
  if (const size_t number = number_length(word, at)) {
    return number;
  }
  if (c == U'-' || c == U'_') {
    return run(word, at, [](char32_t d) { return d == U'-' || d == U'_'; });
  }
  if (is_apostrophe(c)) {
    const size_t quotes = run(word, at, is_apostrophe);
    if (quotes > 1) {
      return quotes;
    }
  }
  if (const size_t part = before_capital(word, at)) {
    return part;
  }
  if (is_word_letter(c)) {
    return after_apostrophes(word, at + run(word, at, is_word_letter)) - at;
  }
  if (!is_word_character(c) && !is_apostrophe(c)) {
    return 1;
  }
  return is_apostrophe(c) && at + 1 == word.size() ? 1 : 0;
}

}  // namespace

std::vector<Subword> subwords(std::u32string_view word) {
  std::vector<Subword> parts;
  for (size_t at = 0; at < word.size();) {
    const size_t length = part_length(word, at);
    if (length > 0) {
      parts.push_back({.at = at, .length = length});
    }
    at += std::max<size_t>(length, 1);
  }
  return parts;
}

}  // namespace mynah
