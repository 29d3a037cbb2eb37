#include "text/spoken/inches.h"

#include <array>
#include <string>

#include "text/spoken/cardinals.h"
#include "text/spoken/word_tables.h"

namespace mynah {
namespace {

// How far back a quotation is looked for that may be open.
constexpr size_t kLookedBack = 256;

constexpr auto kMeasured = std::to_array<std::string_view>(
    {"tall", "wide", "long", "high", "deep", "thick", "across", "apart"});

bool is_double_quote(const Tokens& tokens, size_t at) {
  return tokens.is(at, "\"") || tokens.is(at, "\u201D");
}

bool is_quotation_open(const Tokens& tokens, size_t at) {
  bool open = false;
  for (size_t i = at > kLookedBack ? at - kLookedBack : 0; i < at; ++i) {
    const bool number = i > 0 && tokens.is_digits(i - 1);
    const bool straight = tokens.is(i, "\"");
    if (tokens.is(i, "\u201C") || (straight && !open && !number)) {
      open = true;
    } else if (straight || tokens.is(i, "\u201D")) {
      open = false;
    }
  }
  return open;
}

}  // namespace

bool is_inch_mark(const Tokens& tokens, size_t at) {
  // "... the class of 1984" he said: the words behind a quotation, and a number that is no length.
  constexpr auto kSpeakers = std::to_array<std::string_view>(
      {"he", "she", "they", "I", "we", "said", "says", "asked", "replied", "answered"});
  if (!is_double_quote(tokens, at) || at == 0 || tokens.text(at - 1).size() > 3 ||
      tokens.is_word(at + 1) || among(kSpeakers, tokens.word_behind(at + 1))) {
    return false;
  }
  return !is_quotation_open(tokens, at);
}

std::string_view inch_word(const Tokens& tokens, size_t behind) {
  constexpr auto kNoThings = std::to_array<std::string_view>(
      {"by",      "x",     "of",     "in",     "on",      "at",    "and",  "or",     "to",
       "from",    "above", "below",  "is",     "was",     "are",   "were", "with",   "for",
       "than",    "more",  "less",   "but",    "as",      "off",   "away", "taller", "longer",
       "shorter", "wider", "deeper", "higher", "thicker", "square"});
  const std::string_view next = tokens.word_behind(behind);
  const bool thing = !next.empty() && !among(kMeasured, next) && !among(kNoThings, next) &&
                     !among(WordList{"no-nouns"}, next);
  return thing ? "inch" : "inches";
}

bool is_inch_word(const Tokens& tokens, size_t at, size_t number) {
  if (!tokens.is(at, "in") || !tokens.ends_word(at + 1)) {
    return false;
  }
  const std::string_view before = tokens.word_before(number);
  const bool stop = number > 2 && tokens.is(number - 2, ".") && tokens.is(number - 3, "ft");
  return before == "ft" || before == "foot" || before == "feet" || stop ||
         among(kMeasured, tokens.word_behind(at + 1));
}

std::optional<Reading> read_feet(const Tokens& tokens, size_t at, const SpokenOptions& options) {
  if (!tokens.is_digits(at, 1, 2) || !tokens.is(at + 1, "'") || !tokens.begins_word(at)) {
    return std::nullopt;
  }
  const std::string feet = cardinal_words(tokens.text(at), options.dialect);
  const size_t inches = tokens.skip_space(at + 2);
  const bool number = tokens.is_digits(inches, 1, 2) && digits_value(tokens.text(inches)) < 12;
  const bool marked = number && is_double_quote(tokens, inches + 1);
  // "5'30\"": too many for inches.
  if (tokens.is_digits(inches, 2, 2) && inches == at + 2 && !number &&
      digits_value(tokens.text(inches)) < 60 && is_double_quote(tokens, inches + 1)) {
    return Reading{inches + 2, feet + (tokens.is(at, "1") ? " minute " : " minutes ") +
                                   cardinal_words(tokens.text(inches), options.dialect) +
                                   " seconds"};
  }
  // "5'10" without its last mark.
  if (marked || (number && inches == at + 2 && tokens.ends_word(inches + 1))) {
    return Reading{inches + (marked ? 2 : 1),
                   feet + " foot " + cardinal_words(tokens.text(inches), options.dialect)};
  }
  // "12' x 14'"
  const size_t by = tokens.skip_space(at + 2);
  const size_t other = tokens.skip_space(by + 1);
  const bool room = (tokens.is(by, "x") || tokens.is(by, "\u00D7") || tokens.is(by, "by")) &&
                    tokens.is_digits(other, 1, 3) && tokens.is(other + 1, "'");
  const size_t sign = at > 0 && tokens.is_space(at - 1) ? at - 2 : at - 1;
  const bool second =
      at > 2 && (tokens.is(sign, "x") || tokens.is(sign, "\u00D7")) && tokens.ends_word(at + 2);
  if (room || second || among(kMeasured, tokens.word_behind(at + 2))) {
    return Reading{at + 2, feet + (tokens.is(at, "1") ? " foot" : " feet")};
  }
  return std::nullopt;
}

}  // namespace mynah
