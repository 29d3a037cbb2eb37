// Chemical formulas: "NaCl", "CaCO3", "Ca(OH)2" are letters by name and counts, as chemists say
// them. Those in capitals alone (H2O, CO2) are initialisms beside digits.
#include <algorithm>
#include <array>
#include <string>

#include "text/spoken/cardinals.h"
#include "text/spoken/characters.h"
#include "text/spoken/reading.h"

namespace mynah {
namespace {

// IUPAC, periodic table of the elements (4 May 2022); those that have compounds with a name.
constexpr auto kElements = std::to_array<std::string_view>(
    {"H",  "He", "Li", "Be", "B",  "C",  "N",  "O",  "F",  "Ne", "Na", "Mg", "Al", "Si", "P",
     "S",  "Cl", "Ar", "K",  "Ca", "Sc", "Ti", "V",  "Cr", "Mn", "Fe", "Co", "Ni", "Cu", "Zn",
     "Ga", "Ge", "As", "Se", "Br", "Kr", "Rb", "Sr", "Y",  "Zr", "Nb", "Mo", "Tc", "Ru", "Rh",
     "Pd", "Ag", "Cd", "In", "Sn", "Sb", "Te", "I",  "Xe", "Cs", "Ba", "La", "Ce", "Pr", "Nd",
     "Sm", "Eu", "Gd", "Tb", "Dy", "Ho", "Er", "Tm", "Yb", "Lu", "Hf", "Ta", "W",  "Re", "Os",
     "Ir", "Pt", "Au", "Hg", "Tl", "Pb", "Bi", "Po", "Ra", "Th", "U",  "Pu"});

// Made of elements' letters, and said as words: cells, "not a number", a virus, an operating
// system, a part of New York.
constexpr auto kWords = std::to_array<std::string_view>({"HeLa", "NaN", "CoV", "BeOS", "NoHo"});

constexpr size_t kLongest = 24;

// Symbols in a row as letters: "NaCl" is "N A C L". Counts the elements; empty where one is none.
std::string symbols_words(std::string_view word, std::string_view& first, int& elements) {
  std::string words;
  for (size_t at = 0; at < word.size();) {
    const bool two = at + 1 < word.size() && is_ascii_lower(word[at + 1]);
    const std::string_view symbol = word.substr(at, two ? 2 : 1);
    if (!among(kElements, symbol)) {
      return {};
    }
    // "CoCo" is a name.
    elements += symbol == first ? 0 : 1;
    first = first.empty() ? symbol : first;
    words = join_words(words, spell(symbol));
    at += symbol.size();
  }
  return words;
}

}  // namespace

std::optional<Reading> read_chemical(const Tokens& tokens, size_t at,
                                     const SpokenOptions& options) {
  if (!tokens.is_word(at) || !tokens.begins_word(at) || among(kWords, tokens.text(at))) {
    return std::nullopt;
  }
  std::string words;
  std::string_view first;
  int elements = 0;
  bool group = false;  // inside of brackets
  size_t end = at;
  for (; end < tokens.size() && tokens.text(at, end).size() <= kLongest; ++end) {
    if (tokens.is_word(end)) {
      const std::string symbols = symbols_words(tokens.text(end), first, elements);
      if (symbols.empty()) {
        return std::nullopt;
      }
      words = join_words(words, symbols);
    } else if (tokens.is_digits(end, 1, 2)) {
      words = join_words(words, cardinal_words(tokens.text(end), options.dialect));
    } else if (tokens.is(end, "(") && !group && end > at && tokens.is_word(end + 1)) {
      group = true;
    } else if (tokens.is(end, ")") && group && tokens.is_digits(end + 1, 1, 2)) {
      group = false;
    } else {
      break;
    }
  }
  const std::string_view formula = tokens.text(at, end);
  const bool small = std::ranges::any_of(formula, is_ascii_lower);
  // "M(g)" and its like are no group; "Fe-Ni" is no compound.
  if (elements < 2 || !small || group || !tokens.ends_word(end) || formula.size() > kLongest) {
    return std::nullopt;
  }
  return Reading{end, std::move(words)};
}

}  // namespace mynah
