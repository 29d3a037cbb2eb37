#include "text/spoken/initials.h"

#include "text/spoken/abbreviations.h"
#include "text/spoken/calendar.h"
#include "text/spoken/characters.h"

namespace mynah {
namespace {

// A year, or a day behind its month.
bool is_date_number(const Tokens& tokens, size_t at) {
  if (tokens.is_digits(at, 4, 4)) {
    const unsigned year = digits_value(tokens.text(at));
    const bool part = at > 0 && (tokens.is(at - 1, ".") || tokens.is(at - 1, ","));
    return year >= 1000 && year < 2100 && !part;
  }
  return tokens.is_digits(at, 1, 2) && !calendar_name(tokens.word_before(at)).empty();
}

}  // namespace

bool is_initial(const Tokens& tokens, size_t letter) {
  const auto is_capital_letter = [&](size_t i) {
    return tokens.text(i).size() == 1 && is_capitalised(tokens.text(i));
  };
  if (letter == 0 || !is_capital_letter(letter) || !tokens.is(letter + 1, ".")) {
    return false;
  }
  // "A.D."
  if (tokens.is_word(letter + 2)) {
    return true;
  }
  const size_t next = letter + 3;
  if (!tokens.is_space(letter + 2) || !tokens.is_word(next)) {
    return false;
  }
  if (is_capital_letter(next) && tokens.is(next + 1, ".")) {
    return true;
  }
  // "In 1998 A. thaliana was chosen"
  constexpr size_t kShortestSpecies = 4;
  const std::string_view word = tokens.text(next);
  const bool species = is_ascii_lower(word[0]) && word.size() >= kShortestSpecies;
  const bool name = is_title_case(word) && word.size() > 1;
  return (species || name) && !is_sentence_starter(ascii_lower(word)) &&
         tokens.is_space(letter - 1) && is_date_number(tokens, letter - 2);
}

}  // namespace mynah
