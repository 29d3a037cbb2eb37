#include "text/number_patterns.h"

#include <array>

#include "base/ascii.h"
#include "text/unicode.h"

namespace mynah {
namespace {

bool word_ends(std::u32string_view text, size_t at) {
  return at >= text.size() || !is_word_character(text[at]);
}

// The length of "st", "nd", "rd", "th" or "s" where it begins here and ends a word; else 0.
size_t ordinal_suffix(std::u32string_view text, size_t at) {
  constexpr std::array<std::u32string_view, 5> kSuffixes = {U"st", U"nd", U"rd", U"th", U"s"};
  for (const std::u32string_view suffix : kSuffixes) {
    if (text.substr(at).starts_with(suffix) && word_ends(text, at + suffix.size())) {
      return suffix.size();
    }
  }
  return 0;
}

// One or two ASCII digits that end a word; 0 if they are not that.
size_t cents_length(std::u32string_view text, size_t at) {
  size_t length = 0;
  while (length < 2 && at + length < text.size() && is_ascii_digit(text[at + length])) {
    ++length;
  }
  return length > 0 && word_ends(text, at + length) ? length : 0;
}

constexpr std::u32string_view kCurrencies = U"€£$";

bool is_currency(char32_t c) {
  return kCurrencies.find(c) != std::u32string_view::npos;
}

}  // namespace

std::u32string part_letters_from_digits(std::u32string_view text) {
  std::u32string parted;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i > 0 && ((is_ascii_lower(text[i - 1]) && is_ascii_digit(text[i])) ||
                  (is_ascii_digit(text[i - 1]) && is_ascii_lower(text[i])))) {
      parted += U' ';
    }
    parted += text[i];
  }
  return parted;
}

std::u32string attach_suffixes(std::u32string_view text) {
  std::u32string attached;
  for (size_t i = 0; i < text.size(); ++i) {
    attached += text[i];
    if (!is_ascii_digit(text[i])) {
      continue;
    }
    size_t after = i + 1;
    while (after < text.size() && is_python_space(text[after])) {
      ++after;
    }
    if (after > i + 1 && ordinal_suffix(text, after) > 0) {
      i = after - 1;
    }
  }
  return attached;
}

std::u32string combine_cents(std::u32string_view text) {
  std::u32string combined;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    while (end < text.size() && is_ascii_digit(text[end])) {
      ++end;
    }
    const std::u32string_view rest = text.substr(end);
    const size_t link = rest.starts_with(U" and ¢") ? 6 : rest.starts_with(U" ¢") ? 2 : 0;
    const size_t length = link == 0 ? 0 : cents_length(text, end + link);
    if (!is_currency(text[i]) || end == i + 1 || length == 0) {
      combined += text[i++];
      continue;
    }
    combined.append(text.substr(i, end - i)).append(length == 1 ? U".0" : U".");
    combined.append(text.substr(end + link, length));
    i = end + link + length;
  }
  return combined;
}

std::u32string extract_cents(std::u32string_view text) {
  std::u32string extracted;
  for (size_t i = 0; i < text.size();) {
    const bool zero =
        is_currency(text[i]) && i + 2 < text.size() && text[i + 1] == U'0' && text[i + 2] != U'\n';
    const size_t length = zero ? cents_length(text, i + 3) : 0;
    if (length == 0) {
      extracted += text[i++];
      continue;
    }
    const std::u32string_view cents = text.substr(i + 3, length);
    extracted.append(U"¢").append(length == 2 && cents[0] == U'0' ? cents.substr(1) : cents);
    i += 3 + length;
  }
  return extracted;
}

std::u32string spell_one(std::u32string_view text) {
  std::u32string spelt;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool begins = text[i] == U'1' && (i == 0 || !is_word_character(text[i - 1]));
    const bool plural = i + 1 < text.size() && text[i + 1] == U's';
    if (begins && (word_ends(text, i + 1) || (plural && word_ends(text, i + 2)))) {
      spelt += U"one";
    } else {
      spelt += text[i];
    }
  }
  return spelt;
}

size_t half_end(std::u32string_view text, size_t at) {
  if (at > 0 && is_word_character(text[at - 1])) {
    return 0;
  }
  size_t end = at;
  for (const std::u32string_view word : {U"and", U"a", U"half"}) {
    const size_t begin = end;
    while (end > at && end < text.size() && is_python_space(text[end])) {
      ++end;
    }
    if ((begin > at && end == begin) || !text.substr(end).starts_with(word)) {
      return 0;
    }
    end += word.size();
  }
  return word_ends(text, end) ? end : 0;
}

}  // namespace mynah
