#include "text/documents/drop_capital.h"

#include <algorithm>

#include "text/documents/document_words.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {
namespace {

constexpr std::u32string_view kQuotes =
    U"\"'\u2018\u2019\u201C\u201D\u00AB\u2039\u201E\u00BF\u00A1";

char32_t small(char32_t c) {
  return to_lower(std::u32string(1, c))[0];
}

bool has_small_form(char32_t c) {
  return small(c) != c;
}

// The word that a text begins with, with apostrophes.
std::u32string first_word(std::u32string_view text) {
  std::u32string word;
  for (const char32_t c : text) {
    if (!is_letter(c) && c != U'\'' && c != U'\u2019') {
      break;
    }
    word += c == U'\u2019' ? U'\'' : c;
  }
  return word;
}

}  // namespace

bool is_lone_capital(std::string_view text) {
  std::u32string points = to_code_points(trim_unicode_space(text.substr(0, 16)));
  if (points.size() > 1 && kQuotes.contains(points[0])) {
    points.erase(0, 1);
  }
  return points.size() == 1 && is_letter(points[0]) && has_small_form(points[0]);
}

bool is_capital_class(std::string_view classes) {
  for (size_t at = 0; at < classes.size();) {
    const size_t end = std::min(classes.find_first_of(" \t\n", at), classes.size());
    if (is_document_word(DocumentWord::ClassCapital, classes.substr(at, end - at))) {
      return true;
    }
    at = end + 1;
  }
  return false;
}

bool continues_capital(std::string_view capital, std::string_view rest) {
  const std::u32string word = first_word(to_code_points(rest.substr(0, 64)));
  if (word.empty() || capital.empty()) {
    return false;
  }
  if (!has_small_form(word[0])) {
    return true;
  }
  return std::ranges::none_of(word, [](char32_t c) { return small(c) == c && c != U'\''; });
}

std::string join_capital(std::string_view capital, std::string_view rest,
                         const std::function<bool(const std::string&)>& knows) {
  std::string joined = std::string(capital) + std::string(rest);
  std::string apart = std::string(capital) + " " + std::string(rest);
  const std::u32string letters = to_code_points(capital);
  const std::u32string word = to_lower(first_word(to_code_points(rest.substr(0, 64))));
  if (word.empty()) {
    return apart;
  }
  const char32_t letter = letters.empty() ? U' ' : small(letters.back());
  if (letter != U'a' && letter != U'i' && letter != U'o') {
    return joined;
  }
  const std::string whole = to_utf8(std::u32string(1, letter) + word);
  if (is_document_word(DocumentWord::Capital, whole)) {
    return joined;
  }
  const bool vowel = word.find_first_of(U"aeiouy") != std::u32string::npos;
  if (!vowel) {
    return joined;  // no word: "t was", "ll day"
  }
  if (knows && knows(whole) != knows(to_utf8(word))) {
    return knows(whole) ? joined : apart;
  }
  return apart;
}

}  // namespace mynah
