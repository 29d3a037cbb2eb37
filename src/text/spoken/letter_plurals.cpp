// Letters that are counted: "4Bs", "3 As", "Ps and Qs", "straight As".
#include <array>
#include <string>

#include "base/ascii.h"
#include "text/spoken/cardinals.h"
#include "text/spoken/codes.h"

namespace mynah {
namespace {

constexpr auto kNumbers = std::to_array<std::string_view>(
    {"two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "straight", "Two",
     "Three", "Four", "Five", "Six", "Straight"});

// "As" behind a number is a grade where no sentence goes on with it.
bool ends_phrase(const Tokens& tokens, size_t behind) {
  constexpr auto kBehind = std::to_array<std::string_view>(
      {"and", "or", "in", "on", "at", "for", "from", "this", "last", "so", "but", "to", "out"});
  const std::string_view next = tokens.word_behind(behind);
  return next.empty() || among(kBehind, next);
}

// Whether "Bs" at `at` is more than one B. `counted`: a number or its word stands before it,
// `joined`: directly.
bool is_letter_plural(const Tokens& tokens, size_t at, bool counted, bool joined) {
  const std::string_view word = tokens.text(at);
  if (!tokens.is_word(at) || word.size() != 2 || word[1] != 's' || !is_ascii_upper(word[0]) ||
      !tokens.ends_word(at + 1) || tokens.is(at + 1, "'")) {
    return false;
  }
  // Words, titles, units and elements: Is, Us, Ms, Hs, Vs, Es, Cs.
  constexpr std::string_view kNoOtherWord = "BDFGJKLNPQTWXYZ";
  if (kNoOtherWord.find(word[0]) != std::string_view::npos || joined) {
    return true;
  }
  return counted && word != "Is" && word != "Us" && word != "Ms" &&
         (word != "As" || ends_phrase(tokens, at + 1));
}

}  // namespace

std::optional<Reading> read_letter_plural(const Tokens& tokens, size_t at,
                                          const SpokenOptions& options) {
  const auto letters = [&](size_t word) { return spell(tokens.text(word).substr(0, 1)) + "'s"; };
  if (tokens.is_word(at)) {
    const bool counted = among(kNumbers, tokens.word_before(at));
    // "Ps. 23" is a psalm.
    const bool psalm = tokens.is(at, "Ps") && tokens.is(at + 1, ".") &&
                       tokens.is_digits(tokens.skip_space(at + 2));
    const bool plural = tokens.begins_word(at) && !tokens.is(at, "Rs") && !psalm &&
                        is_letter_plural(tokens, at, counted, false);
    return plural ? std::optional(Reading{at + 1, letters(at)}) : std::nullopt;
  }
  const size_t word = tokens.skip_space(at + 1);
  if (!tokens.is_digits(at, 1, 2) || !tokens.begins_word(at) ||
      !is_letter_plural(tokens, word, true, word == at + 1)) {
    return std::nullopt;
  }
  // "500 Rs" are rupees, and "the 3 Rs" are reading, writing and arithmetic.
  const std::string_view before = tokens.word_before(at);
  if (tokens.is(word, "Rs") &&
      (tokens.text(at).size() > 1 || (before != "the" && before != "The"))) {
    return std::nullopt;
  }
  return Reading{word + 1,
                 join_words(cardinal_words(tokens.text(at), options.dialect), letters(word))};
}

}  // namespace mynah
