// Chemical formulas: "NaCl", "CaCO3", "Ca(OH)2" are letters by name and counts, as chemists say
// them. Those in capitals alone with no count inside (CO2) are initialisms beside digits.
#include <algorithm>
#include <array>
#include <string>

#include "text/spoken/cardinals.h"
#include "text/spoken/characters.h"
#include "text/spoken/isotopes.h"
#include "text/spoken/reading.h"

namespace mynah {
namespace {

// IUPAC, periodic table of the elements (4 May 2022); those that have compounds with a name, so
// that "NeMo" and "HeLa" are none.
constexpr auto kElements = std::to_array<std::string_view>(
    {"H",  "Li", "Be", "B",  "C",  "N",  "O",  "F",  "Na", "Mg", "Al", "Si", "P",  "S",
     "Cl", "K",  "Ca", "Sc", "Ti", "V",  "Cr", "Mn", "Fe", "Co", "Ni", "Cu", "Zn", "Ga",
     "Ge", "As", "Se", "Br", "Rb", "Sr", "Y",  "Zr", "Nb", "Mo", "Tc", "Ru", "Rh", "Pd",
     "Ag", "Cd", "In", "Sn", "Sb", "Te", "I",  "Xe", "Cs", "Ba", "La", "Ce", "Pr", "Nd",
     "Sm", "Eu", "Gd", "Tb", "Dy", "Ho", "Er", "Tm", "Yb", "Lu", "Hf", "Ta", "W",  "Re",
     "Os", "Ir", "Pt", "Au", "Hg", "Tl", "Pb", "Bi", "Po", "Ra", "Th", "U",  "Pu"});

// What a formula ends with (IUPAC, Red Book 2005, IR-4.4: the more electronegative part comes
// last): names such as "CoMo" end otherwise.
constexpr auto kLast = std::to_array<std::string_view>(
    {"H", "B", "C", "N", "O", "F", "Si", "P", "S", "Cl", "Ge", "As", "Se", "Br", "Sb", "Te", "I"});

// Made of elements' letters, and said as words: "not a number", an operating system.
constexpr auto kWords = std::to_array<std::string_view>({"NaN", "BeOS"});

constexpr size_t kLongest = 24;

// Made of elements' letters, and words or grades where a sign follows: "As-", "C+", "He-".
constexpr auto kNoIons = std::to_array<std::string_view>(
    {"B",  "C",  "F",  "I",  "V",  "S", "P",  "N",  "O",  "W",  "Y", "U",
     "In", "As", "Be", "He", "No", "I", "At", "Co", "La", "Re", "Os"});

// The symbols that a formula had so far.
struct Symbols {
  std::string_view first;
  std::string_view last;
  int others = 0;  // than the first: "CoCo" is a name
};

// Symbols in a row as letters: "NaCl" is "N A C L". Empty where one is none.
std::string symbols_words(std::string_view word, Symbols& symbols) {
  std::string words;
  for (size_t at = 0; at < word.size();) {
    const bool two = at + 1 < word.size() && is_ascii_lower(word[at + 1]);
    symbols.last = word.substr(at, two ? 2 : 1);
    if (!among(kElements, symbols.last)) {
      return {};
    }
    symbols.first = symbols.first.empty() ? symbols.last : symbols.first;
    symbols.others += symbols.last == symbols.first ? 0 : 1;
    words = join_words(words, spell(symbols.last));
    at += symbols.last.size();
  }
  return words;
}

// "CCs", "PCs": an initialism's plural, not caesium.
bool is_plural(std::string_view word) {
  return word.ends_with('s') && is_all_capitals(word.substr(0, word.size() - 1));
}

// "Na+", "Ca2+", "SO4 2-", "Fe³⁺": the charge at `at`, "two plus", and where it ends. Nothing where
// none is there.
std::optional<Reading> charge_at(const Tokens& tokens, size_t at, EnglishDialect dialect) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kRaised = {
      {{"\u00B9", "1"}, {"\u00B2", "2"}, {"\u00B3", "3"}, {"\u2074", "4"}}};
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kSigns = {
      {{"+", "plus"},
       {"-", "minus"},
       {"\u2212", "minus"},
       {"\u207A", "plus"},
       {"\u207B", "minus"}}};
  const auto* const raised =
      std::ranges::find(kRaised, tokens.text(at), [](const auto& r) { return r.first; });
  const std::string_view count = raised != kRaised.end()      ? raised->second
                                 : tokens.is_digits(at, 1, 1) ? tokens.text(at)
                                                              : std::string_view{};
  const size_t sign = count.empty() ? at : at + 1;
  const auto* const found =
      std::ranges::find(kSigns, tokens.text(sign), [](const auto& s) { return s.first; });
  const std::string_view behind = tokens.text(sign + 1);
  const bool ends = tokens.is_end(sign + 1) || tokens.is_space(sign + 1) ||
                    std::string_view(".,;:!?)]/").find(behind) != std::string_view::npos;
  if (found == kSigns.end() || !ends) {
    return std::nullopt;
  }
  return Reading{sign + 1,
                 join_words(count.empty() ? "" : cardinal_words(count, dialect), found->second)};
}

// "Na+", "Ca2+": one element and its charge.
std::optional<Reading> read_ion(const Tokens& tokens, size_t at, EnglishDialect dialect) {
  const std::string_view symbol = tokens.text(at);
  if (!among(kElements, symbol) || among(kNoIons, symbol)) {
    return std::nullopt;
  }
  auto charge = charge_at(tokens, at + 1, dialect);
  if (charge) {
    charge->words = spell(symbol) + " " + charge->words;
  }
  return charge;
}

// "OH-", "NO3-", "SO42-", "NH4+": a group of atoms and its charge.
std::optional<Reading> read_group_ion(const Tokens& tokens, size_t at, EnglishDialect dialect) {
  constexpr auto kGroups = std::to_array<std::string_view>(
      {"OH", "CN", "NO", "NH", "SO", "CO", "PO", "HCO", "HSO", "HPO", "ClO", "MnO", "CrO"});
  const std::string_view group = tokens.text(at);
  const bool bare = group == "OH" || group == "CN";
  if (!among(kGroups, group) || tokens.is_digits(at + 1) == bare) {
    return std::nullopt;
  }
  if (bare) {
    auto charge = charge_at(tokens, at + 1, dialect);
    return charge ? std::optional(Reading{charge->end, spell(group) + " " + charge->words})
                  : std::nullopt;
  }
  // "SO42-" is SO4 with two charges.
  const std::string_view digits = tokens.text(at + 1);
  const bool two = digits.size() == 2;
  const auto sign = digits.size() > 2 ? std::nullopt : charge_at(tokens, at + 2, dialect);
  if (!sign) {
    return std::nullopt;
  }
  std::string words = spell(group) + " " + cardinal_words(digits.substr(0, 1), dialect);
  if (two) {
    words += " " + cardinal_words(digits.substr(1), dialect);
  }
  return Reading{sign->end, words + " " + sign->words};
}

}  // namespace

std::optional<Reading> read_chemical(const Tokens& tokens, size_t at,
                                     const SpokenOptions& options) {
  if (auto isotope = read_isotope(tokens, at, options.dialect)) {
    return isotope;
  }
  if (!tokens.is_word(at) || !tokens.begins_word(at) || among(kWords, tokens.text(at)) ||
      is_plural(tokens.text(at))) {
    return std::nullopt;
  }
  if (auto ion = read_ion(tokens, at, options.dialect)) {
    return ion;
  }
  if (auto ion = read_group_ion(tokens, at, options.dialect)) {
    return ion;
  }
  std::string words;
  Symbols symbols;
  bool group = false;    // inside of brackets
  bool counted = false;  // a count between symbols: "CH3COOH"
  size_t end = at;
  for (; end < tokens.size() && tokens.text(at, end).size() <= kLongest; ++end) {
    if (tokens.is_word(end)) {
      const std::string letters = symbols_words(tokens.text(end), symbols);
      if (letters.empty()) {
        return std::nullopt;
      }
      words = join_words(words, letters);
      counted = counted || (end > at && tokens.is_digits(end - 1));
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
  if (symbols.others == 0 || !among(kLast, symbols.last) || !(small || counted) || group ||
      !tokens.ends_word(end) || formula.size() > kLongest) {
    return std::nullopt;
  }
  return Reading{end, std::move(words)};
}

}  // namespace mynah
