#include "text/spoken/tokens.h"

#include <algorithm>

#include "text/spoken/characters.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {
namespace {

bool is_word_part(char32_t c) {
  if (c < 0x80) {
    return is_ascii_letter(static_cast<char>(c));
  }
  // Without digits: those of other scripts are ASCII by now, and "²" is said apart. The joiners are
  // inside words of Indian and Persian script, and between emoji, which are no letters.
  return is_letter(c) || is_mark(c);
}

Token::Kind kind_of(char32_t c) {
  if (is_white_space(c)) {
    return Token::Kind::Space;
  }
  if (is_ascii_digit(c)) {
    return Token::Kind::Digits;
  }
  return is_word_part(c) ? Token::Kind::Word : Token::Kind::Mark;
}

}  // namespace

Tokens::Tokens(std::string_view text, std::span<const size_t> cuts) : text_(text) {
  size_t at = 0;
  size_t cut = 0;
  while (at < text.size()) {
    while (cut < cuts.size() && cuts[cut] <= at) {
      ++cut;
    }
    const size_t limit = cut < cuts.size() ? cuts[cut] : text.size();
    const Utf8Step first = next_code_point(text.substr(at));
    Token token{.kind = kind_of(first.code_point), .begin = static_cast<uint32_t>(at)};
    at += first.bytes;
    while (at < limit && token.kind != Token::Kind::Mark) {
      const Utf8Step step = next_code_point(text.substr(at));
      const Token::Kind kind = kind_of(step.code_point);
      const bool joins =
          token.kind == Token::Kind::Word &&
          (step.code_point == U'\'' || step.code_point == 0x200C || step.code_point == 0x200D) &&
          at + step.bytes < text.size() &&
          kind_of(next_code_point(text.substr(at + step.bytes)).code_point) == Token::Kind::Word;
      if (kind != token.kind && !joins) {
        break;
      }
      at += step.bytes;
    }
    token.end = static_cast<uint32_t>(at);
    tokens_.push_back(token);
  }
}

std::string_view Tokens::text(size_t i) const {
  const Token token = at(i);
  return text_.substr(token.begin, token.end - token.begin);
}

std::string_view Tokens::text(size_t first, size_t last) const {
  if (first >= last || first >= tokens_.size()) {
    return {};
  }
  const size_t begin = tokens_[first].begin;
  return text_.substr(begin, tokens_[std::min(last, tokens_.size()) - 1].end - begin);
}

bool Tokens::is_digits(size_t i, size_t low, size_t high) const {
  const size_t count = text(i).size();
  return is_digits(i) && count >= low && count <= high;
}

std::string_view Tokens::word_before(size_t i) const {
  // Indices before the first wrap around to a place that is outside too.
  const size_t before = is_space(i - 1) ? i - 2 : i - 1;
  return i > 0 && is_word(before) ? text(before) : std::string_view{};
}

std::string_view Tokens::word_behind(size_t i) const {
  const size_t behind = skip_space(i);
  return is_word(behind) ? text(behind) : std::string_view{};
}

bool Tokens::begins_word(size_t i) const {
  if (i == 0 || is_space(i - 1)) {
    return true;
  }
  if (kind(i - 1) != Token::Kind::Mark) {
    return false;
  }
  const char32_t c = next_code_point(text(i - 1)).code_point;
  return is_opener(c) || std::u32string_view(U",;:=<>|/*_~\u2013\u2014\u2026&").find(c) !=
                             std::u32string_view::npos;
}

bool Tokens::ends_word(size_t i) const {
  return !is_word(i) && !is_digits(i);
}

bool Tokens::ends_text(size_t i) const {
  // Bounded: a text of brackets alone is not looked over again for each of them.
  for (size_t looked = 0; looked < 8; ++looked, ++i) {
    if (is_end(i)) {
      return true;
    }
    if (!is_space(i) &&
        (kind(i) != Token::Kind::Mark || !is_closer(next_code_point(text(i)).code_point))) {
      return false;
    }
  }
  return false;
}

unsigned digits_value(std::string_view digits) {
  unsigned value = 0;
  for (const char digit : digits) {
    value = value * 10 + static_cast<unsigned>(digit - '0');
  }
  return value;
}

}  // namespace mynah
