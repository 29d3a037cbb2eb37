#include "text/spoken/spoken_builder.h"

#include <string>

#include "base/ascii.h"
#include "text/spoken/among.h"
#include "text/spoken/characters.h"
#include "text/spoken/reading.h"
#include "text/utf8.h"

namespace mynah {
namespace {

bool touches_left(char32_t c) {
  return among(U".,;:!?)\u201D\u2026-", c);
}

bool is_letter_name(std::string_view words) {
  return !words.empty() && words[0] == kLetterName;
}

}  // namespace

std::string spell(std::string_view letters) {
  std::string words;
  for (const char c : letters) {
    if (!is_ascii_letter(c)) {
      continue;
    }
    words += words.empty() ? "" : " ";
    words += kLetterName;
    words += ascii_upper(c);
  }
  return words;
}

std::string with_letter_names(std::string_view words) {
  std::string named;
  for (size_t i = 0; i < words.size(); ++i) {
    const bool begins = i == 0 || words[i - 1] == ' ';
    const bool ends = i + 1 == words.size() || words[i + 1] == ' ' || words[i + 1] == '\'';
    if (begins && ends && is_ascii_upper(words[i])) {
      named += kLetterName;
    }
    named += words[i];
  }
  return named;
}

std::string join_words(std::string_view first, std::string_view second) {
  std::string words(first);
  words += first.empty() || second.empty() ? "" : " ";
  return words += second;
}

void SpokenBuilder::separate(char32_t first) {
  std::string& text = spoken_.text;
  const bool straight = first == U'"';
  // A straight quote opens behind a space and closes elsewhere.
  const bool opens = among(U"(\u201C", first) || (straight && (space_ || text.empty() || glue_));
  const bool closes = (straight && !opens) || touches_left(first);
  const bool dash = first == U'\u2014';
  if (!text.empty() && !glue_ && (!closes || (dash && !text.empty()))) {
    text += ' ';
  }
  glue_ = opens || first == U'-';
  space_ = false;
}

void SpokenBuilder::add_piece(std::string_view words, bool letters, size_t source_begin,
                              size_t source_end) {
  separate(next_code_point(words).code_point);
  const size_t begin = spoken_.text.size();
  for (const char c : words) {
    if (c != kLetterName) {
      spoken_.text += c;
    }
  }
  spoken_.pieces.push_back({.begin = begin,
                            .end = spoken_.text.size(),
                            .source_begin = source_begin,
                            .source_end = source_end,
                            .letters = letters,
                            .phonemes = {}});
}

void SpokenBuilder::add(std::string_view words, size_t source_begin, size_t source_end) {
  const size_t first = words.find_first_not_of(' ');
  if (first == std::string_view::npos) {
    space_ = true;
    return;
  }
  words.remove_prefix(first);
  while (!words.empty()) {
    const bool letters = is_letter_name(words);
    size_t end = 0;
    // One piece as long as the words are of one kind.
    while (end < words.size()) {
      const size_t next = words.find(' ', end);
      if (next == std::string_view::npos) {
        end = words.size();
        break;
      }
      end = next;
      if (is_letter_name(words.substr(next + 1)) != letters) {
        break;
      }
      ++end;
    }
    add_piece(words.substr(0, end), letters, source_begin, source_end);
    words.remove_prefix(end < words.size() ? end + 1 : end);
  }
}

void SpokenBuilder::add_phonemes(std::string_view words, std::string_view phonemes,
                                 size_t source_begin, size_t source_end) {
  if (words.empty()) {
    return;
  }
  add_piece(words, false, source_begin, source_end);
  spoken_.pieces.back().phonemes = phonemes;
}

}  // namespace mynah
