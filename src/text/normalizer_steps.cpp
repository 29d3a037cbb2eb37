#include "text/normalizer_steps.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "text/unicode.h"

namespace mynah {
namespace {

constexpr auto kNone = std::u32string_view::npos;

// Letters that NFKD does not take apart (basic.py, ADDITIONAL_DIACRITICS).
constexpr std::array<std::pair<char32_t, std::u32string_view>, 16> kSpeltLetters = {{
    {U'œ', U"oe"},
    {U'Œ', U"OE"},
    {U'ø', U"o"},
    {U'Ø', U"O"},
    {U'æ', U"ae"},
    {U'Æ', U"AE"},
    {U'ß', U"ss"},
    {U'ẞ', U"SS"},
    {U'đ', U"d"},
    {U'Đ', U"D"},
    {U'ð', U"d"},
    {U'Ð', U"D"},
    {U'þ', U"th"},
    {U'Þ', U"th"},
    {U'ł', U"l"},
    {U'Ł', U"L"},
}};

std::u32string remove_angle_and_square(std::u32string_view text) {
  std::u32string kept;
  for (size_t at = 0;;) {
    const size_t open = text.find_first_of(U"<[", at);
    const size_t close = open == kNone ? kNone : text.find_first_of(U">]", open + 1);
    if (close == kNone) {
      return kept.append(text.substr(at));
    }
    kept.append(text.substr(at, open - at));
    at = close + 1;
  }
}

std::u32string remove_round(std::u32string_view text) {
  std::u32string kept;
  for (size_t at = 0;;) {
    const size_t open = text.find(U'(', at);
    const size_t close = open == kNone ? kNone : text.find(U')', open + 1);
    if (close == kNone) {
      return kept.append(text.substr(at));
    }
    // "()" encloses nothing and stays: the pattern wants a character between.
    const bool empty = close == open + 1;
    kept.append(text.substr(at, (empty ? close : open) - at));
    at = empty ? close : close + 1;
  }
}

}  // namespace

std::u32string remove_bracketed(std::u32string_view text) {
  return remove_round(remove_angle_and_square(text));
}

std::u32string remove_symbols(std::u32string_view text, bool preserve_marks) {
  std::u32string clean = nfkc(text);
  std::ranges::replace_if(
      clean,
      [&](char32_t c) { return is_symbol_or_punctuation(c) || (!preserve_marks && is_mark(c)); },
      U' ');
  return clean;
}

std::u32string remove_symbols_and_diacritics(std::u32string_view text, std::u32string_view keep) {
  std::u32string clean;
  for (const char32_t c : nfkd(text)) {
    const auto* const spelt =
        std::ranges::find(kSpeltLetters, c, &std::pair<char32_t, std::u32string_view>::first);
    if (keep.find(c) != kNone) {
      clean += c;
    } else if (spelt != kSpeltLetters.end()) {
      clean += spelt->second;
    } else if (!is_nonspacing_mark(c)) {
      clean += is_symbol_or_punctuation(c) || is_mark(c) ? U' ' : c;
    }
  }
  return clean;
}

std::u32string collapse_spaces(std::u32string_view text) {
  std::u32string collapsed;
  bool after_space = false;
  for (const char32_t c : text) {
    const bool space = is_python_space(c);
    if (!space) {
      collapsed += c;
    } else if (!after_space) {
      collapsed += U' ';
    }
    after_space = space;
  }
  return collapsed;
}

std::vector<std::u32string> split_words(std::u32string_view text) {
  std::vector<std::u32string> words;
  bool in_word = false;
  for (const char32_t c : text) {
    const bool space = is_python_space(c);
    if (!space) {
      if (!in_word) {
        words.emplace_back();
      }
      words.back() += c;
    }
    in_word = !space;
  }
  return words;
}

}  // namespace mynah
