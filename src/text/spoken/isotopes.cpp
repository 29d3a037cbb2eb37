#include "text/spoken/isotopes.h"

#include <algorithm>
#include <array>
#include <string>

#include "text/spoken/cardinals.h"
#include "text/spoken/word_tables.h"

namespace mynah {

std::optional<Reading> read_isotope(const Tokens& tokens, size_t at, EnglishDialect dialect) {
  constexpr auto kRaised =
      std::to_array<std::string_view>({"\u2070", "\u00B9", "\u00B2", "\u00B3", "\u2074", "\u2075",
                                       "\u2076", "\u2077", "\u2078", "\u2079"});
  constexpr size_t kLongestMass = 3;
  if (tokens.kind(at) != Token::Kind::Mark || !tokens.begins_word(at)) {
    return std::nullopt;
  }
  std::string mass;
  size_t symbol = at;
  for (; mass.size() <= kLongestMass; ++symbol) {
    const auto* const digit = std::ranges::find(kRaised, tokens.text(symbol));
    if (digit == kRaised.end()) {
      break;
    }
    mass += static_cast<char>('0' + (digit - kRaised.begin()));
  }
  const TableRow* const element = find_row(WordTable::Elements, tokens.text(symbol));
  if (mass.empty() || mass.size() > kLongestMass || mass[0] == '0' || element == nullptr ||
      !tokens.ends_word(symbol + 1)) {
    return std::nullopt;
  }
  return Reading{symbol + 1, std::string((*element)[1]) + " " + pair_words(mass, dialect)};
}

}  // namespace mynah
