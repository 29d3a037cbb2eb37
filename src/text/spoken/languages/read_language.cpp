// Readers of text in other languages than English.
#include <algorithm>
#include <array>

#include "text/spoken/characters.h"
#include "text/spoken/languages/language_numbers.h"
#include "text/spoken/languages/number_reader.h"
#include "text/spoken/reading.h"
#include "text/utf8.h"

namespace mynah {
namespace {

// What a voice is handed as one word.
constexpr size_t kMostTokens = 64;

// The token that begins at a byte, if one does: a reading ends between two.
std::optional<size_t> token_at(const Tokens& tokens, size_t from, size_t byte) {
  size_t at = from;
  while (at < tokens.size() && tokens.at(at).begin < byte) {
    ++at;
  }
  const bool begins =
      at < tokens.size() ? tokens.at(at).begin == byte : tokens.source().size() == byte;
  return begins && at > from ? std::optional(at) : std::nullopt;
}

bool is_stop(std::string_view mark) {
  const char32_t c = next_code_point(mark).code_point;
  return is_closer(c) || is_spaced_stop(c) || is_free_stop(c) || mark == "," || mark == ";" ||
         mark == ":" || mark == "-" || c == 0x2013 || c == 0x2014;
}

}  // namespace

std::optional<Reading> read_language_number(const Tokens& tokens, size_t at,
                                            const SpokenOptions& options) {
  // "l'8 marzo", "d'1 million"; "anni '80"
  const bool elided = tokens.is_word(at) && tokens.is(at + 1, "'") && tokens.is_digits(at + 2);
  const bool dropped = tokens.is(at, "'") && tokens.is_digits(at + 1) && tokens.begins_word(at);
  if (elided || dropped) {
    const size_t from = at + (elided ? 2 : 1);
    const LanguageNumbers* const language = language_numbers(options.language);
    const auto said = language == nullptr
                          ? std::nullopt
                          : NumberReader(tokens.source(), *language).read(tokens.at(from).begin);
    const auto end = said ? token_at(tokens, from, said->end) : std::nullopt;
    const std::string before = elided ? std::string(tokens.text(at)) + "'" : "";
    return end ? std::optional(Reading{*end, before + said->words}) : std::nullopt;
  }
  const bool digits = tokens.is_digits(at);
  if (options.language.empty() || tokens.is_space(at)) {
    return std::nullopt;
  }
  // What follows a letter, a digit's sign or another number belongs to what began there.
  const Token::Kind before = at == 0 ? Token::Kind::End : tokens.kind(at - 1);
  if (before == Token::Kind::Word || before == Token::Kind::Digits ||
      (digits && before == Token::Kind::Mark && at > 1 && tokens.is_digits(at - 2) &&
       (tokens.is(at - 1, ".") || tokens.is(at - 1, ",")))) {
    return std::nullopt;
  }
  if (!digits) {
    // Signs and short words before a number stand near one.
    constexpr auto kFractions = std::to_array<std::string_view>(
        {"\u00BD", "\u2153", "\u2154", "\u00BC", "\u00BE", "\u215B"});
    bool near = std::ranges::find(kFractions, tokens.text(at)) != kFractions.end();
    for (size_t i = at + 1; i < at + 7 && !near; ++i) {
      near = tokens.is_digits(i);
    }
    if (!near) {
      return std::nullopt;
    }
  }
  const LanguageNumbers* const language = language_numbers(options.language);
  if (language == nullptr) {
    return std::nullopt;
  }
  const auto said = NumberReader(tokens.source(), *language).read(tokens.at(at).begin);
  const auto end = said ? token_at(tokens, at, said->end) : std::nullopt;
  return end ? std::optional(Reading{*end, said->words}) : std::nullopt;
}

std::optional<Reading> read_language_roman(const Tokens& tokens, size_t at,
                                           const SpokenOptions& options) {
  const char first = tokens.is_word(at) ? tokens.text(at)[0] : ' ';
  if (options.language.empty() || std::string_view("IVXL").find(first) == std::string_view::npos ||
      !tokens.begins_word(at)) {
    return std::nullopt;
  }
  const LanguageNumbers* const language = language_numbers(options.language);
  if (language == nullptr) {
    return std::nullopt;
  }
  const auto said = NumberReader(tokens.source(), *language).read_roman(tokens.at(at).begin);
  const auto end = said ? token_at(tokens, at, said->end) : std::nullopt;
  return end ? std::optional(Reading{*end, said->words}) : std::nullopt;
}

std::optional<Reading> read_whole(const Tokens& tokens, size_t at, const SpokenOptions&) {
  if (tokens.is_space(at) || (tokens.kind(at) == Token::Kind::Mark && !tokens.is(at, "-")) ||
      (at > 0 && !tokens.is_space(at - 1) && tokens.kind(at - 1) != Token::Kind::Mark)) {
    return std::nullopt;
  }
  size_t end = at;
  bool digits = false;
  while (end < tokens.size() && !tokens.is_space(end) && end - at < kMostTokens) {
    digits = digits || tokens.is_digits(end);
    ++end;
  }
  while (end > at && tokens.kind(end - 1) == Token::Kind::Mark && is_stop(tokens.text(end - 1))) {
    --end;
  }
  return digits && end > at + 1 ? std::optional(Reading{end, std::string(tokens.text(at, end))})
                                : std::nullopt;
}

}  // namespace mynah
