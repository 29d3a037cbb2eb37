// What a stroke between words and numbers means: "or", "per", "over", or its name.
#include "text/spoken/strokes.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/ascii.h"
#include "text/spoken/calendar.h"
#include "text/spoken/quantity.h"
#include "text/spoken/word_tables.h"

namespace mynah {
namespace {

struct Sign {
  std::string_view written;
  std::string_view spoken;
};

template <size_t n>
std::optional<std::string_view> spoken_of(const std::array<Sign, n>& signs, std::string_view text) {
  const auto* const found = std::ranges::find(signs, text, &Sign::written);
  return found == signs.end() ? std::nullopt : std::optional(found->spoken);
}

// "1/n", "a/b = 2": a stroke between unknowns, beside an equals sign where letters stand on both
// sides.
bool divides(const Tokens& tokens, size_t at) {
  const auto is_unknown = [&](size_t i) {
    return tokens.text(i).size() == 1 && is_ascii_lower(tokens.text(i)[0]);
  };
  // "Δx/Δt"
  constexpr std::string_view kDelta = "\u0394";
  if (tokens.text(at - 1).starts_with(kDelta) && tokens.text(at + 1).starts_with(kDelta)) {
    return true;
  }
  // "125 GeV/c²"
  if (is_unknown(at + 1) && (tokens.is(at + 2, "\u00B2") || tokens.is(at + 2, "\u00B3"))) {
    return true;
  }
  const bool alone = tokens.begins_word(at - 1) && tokens.ends_word(at + 2);
  if (!alone || !is_unknown(at + 1)) {
    return false;
  }
  if (tokens.is_digits(at - 1)) {
    return std::string_view("nxyzkt").find(tokens.text(at + 1)) != std::string_view::npos;
  }
  const size_t last = at > 2 && tokens.is_space(at - 2) ? at - 3 : at - 1;
  constexpr auto kRelations = std::to_array<std::string_view>(
      {"=", "<", ">", "\u2264", "\u2265", "\u2260", "\u2248", "\u2261"});
  return is_unknown(at - 1) && (among(kRelations, tokens.text(tokens.skip_space(at + 2))) ||
                                among(kRelations, tokens.text(last)));
}

// "(a + b) / 2 = c", "sin x / x = 1": with spaces around it, beside an equals sign.
bool divides_apart(const Tokens& tokens, size_t at) {
  constexpr size_t kNear = 32;  // tokens
  const auto is_term = [&](size_t i) {
    return tokens.is_digits(i) || tokens.is(i, "(") || tokens.is(i, ")") ||
           (tokens.is_word(i) && tokens.text(i).size() == 1);
  };
  if (at < 2 || !tokens.is_space(at - 1) || !tokens.is_space(at + 1) || !is_term(at - 2) ||
      !is_term(at + 2)) {
    return false;
  }
  for (size_t i = at > kNear ? at - kNear : 0; i < at + kNear && !tokens.is_end(i); ++i) {
    if (tokens.is(i, "=")) {
      return true;
    }
  }
  return false;
}

}  // namespace

// What stands below the stroke of a price: "5\u00A2/kWh", "$0.12/kWh".
std::optional<Reading> read_price_divisor(const Tokens& tokens, size_t at,
                                          const SpokenOptions& options) {
  constexpr auto kMoney =
      std::to_array<std::string_view>({"\u00A2", "$", "\u20AC", "\u00A3", "\u00A5", "\u20B9"});
  // "10⁹/L"
  constexpr auto kRaised = std::to_array<std::string_view>(
      {"\u00B2", "\u00B3", "\u2074", "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"});
  const bool cents = at > 1 && tokens.is(at - 1, "c") && tokens.is_digits(at - 2);
  const bool money =
      cents ||
      (at > 0 && (among(kMoney, tokens.text(at - 1)) || among(kRaised, tokens.text(at - 1))));
  constexpr auto kScales =
      std::to_array<std::string_view>({"k", "K", "m", "M", "bn", "B", "million", "billion"});
  const bool scaled = at > 1 && among(kScales, tokens.text(at - 1)) &&
                      (tokens.is_digits(at - 2) || tokens.is_space(at - 2));
  const bool number =
      at > 0 && (tokens.is_digits(at - 1) || scaled) && tokens.text(at + 1).size() > 1;
  if (!tokens.is(at, "/") || (!money && !number)) {
    return std::nullopt;
  }
  // "\u20AC2/100 g"
  const auto count =
      money || !tokens.is_digits(at + 1, 2, 4) ? std::nullopt : quantity_at(tokens, at + 1);
  if (const auto unit =
          count ? unit_at(tokens, count->end, false, options.dialect) : std::nullopt) {
    return Reading{unit->end, "per " + quantity_words(*count, options.dialect) + " " + unit->words};
  }
  // "99\u00A2/ea."
  if (tokens.is(at + 1, "ea") && tokens.ends_word(at + 2)) {
    return Reading{at + 2, "each"};
  }
  const auto unit = divisor_unit_at(tokens, at + 1, options.dialect);
  if (!unit || !tokens.ends_word(unit->end)) {
    return std::nullopt;
  }
  // "$1.99/lb., $2/kg"
  const std::string_view next = tokens.word_behind(unit->end + 1);
  const bool inside = tokens.is(unit->end + 1, ",") || tokens.is(unit->end + 1, ";") ||
                      (!next.empty() && is_ascii_lower(next[0]));
  const bool stop = tokens.is(unit->end, ".") && inside;
  return Reading{unit->end + (stop ? 1 : 0), "per " + unit->words};
}

std::optional<Reading> read_stroke(const Tokens& tokens, size_t at) {
  if (!tokens.is(at, "/")) {
    return std::nullopt;
  }
  constexpr auto kEither = std::to_array<std::string_view>(
      {"he/she", "she/he", "him/her", "his/her", "his/hers", "her/his", "yes/no", "and/or",
       "true/false", "on/off", "male/female", "mother/father", "win/lose", "pass/fail", "either/or",
       "sir/madam", "in/out", "up/down"});
  constexpr auto kPer =
      std::to_array<std::string_view>({"second", "minute", "hour", "day", "week", "month", "year",
                                       "night", "person", "user", "head", "page", "item", "unit"});
  if (at > 0 && tokens.is_value(at - 1) && tokens.is_value(at + 1)) {
    // "$2.50/lb"
    constexpr auto kShort = std::to_array<Sign>({{"lb", "per pound"},
                                                 {"kg", "per kilogram"},
                                                 {"oz", "per ounce"},
                                                 {"gal", "per gallon"},
                                                 {"hr", "per hour"},
                                                 {"h", "per hour"},
                                                 {"mo", "per month"},
                                                 {"wk", "per week"},
                                                 {"yr", "per year"},
                                                 {"sh", "per share"}});
    if (const auto unit = spoken_of(kShort, tokens.text(at + 1));
        unit && tokens.is_digits(at - 1) && tokens.ends_word(at + 2)) {
      return Reading{at + 2, std::string(*unit)};
    }
    const std::string_view both = tokens.text(at - 1, at + 2);
    // "Directive 95/46/EC"
    constexpr auto kUnions = std::to_array<std::string_view>({"EC", "EU", "EEC", "JHA"});
    const bool act = among(kUnions, tokens.text(at + 1)) ||
                     (tokens.is(at + 2, "/") && among(kUnions, tokens.text(at + 3)));
    if (act && tokens.is_digits(at - 1)) {
      return Reading{at + 1, " "};
    }
    // "f/1.8"
    if (tokens.is(at - 1, "f") && tokens.is_digits(at + 1) && tokens.begins_word(at - 1)) {
      return Reading{at + 1, " "};
    }
    if (divides(tokens, at)) {
      return Reading{at + 1, "over"};
    }
    // "the Mar/Apr issue"
    if (!calendar_name(tokens.text(at - 1)).empty() &&
        !calendar_name(tokens.text(at + 1)).empty()) {
      return Reading{at + 1, " "};
    }
    // "350F/180C", "10 EDT/7:15 PDT": the same in another measure.
    const auto is_scale = [&](size_t i) { return tokens.is(i, "F") || tokens.is(i, "C"); };
    constexpr std::string_view kDegree = "\u00B0";
    const bool heat = at > 1 && is_scale(at - 1) && tokens.is_digits(at + 1) &&
                      (tokens.is_digits(at - 2) || tokens.is(at - 2, kDegree)) &&
                      (is_scale(at + 2) || tokens.is(at + 2, kDegree));
    const bool hour = tokens.is_word(at - 1) && is_ascii_upper(tokens.text(at - 1)[0]) &&
                      tokens.is_digits(at + 1, 1, 2) && tokens.is(at + 2, ":") &&
                      tokens.is_digits(at + 3, 2, 2);
    if (heat || hour) {
      return Reading{at + 1, ","};
    }
    // "I/O", "F/A-18"
    const bool letters = both.size() == 3 && is_ascii_upper(both[0]) && is_ascii_upper(both[2]);
    if (both == "and/or" || letters) {
      return Reading{at + 1, " "};
    }
    if (among(kEither, ascii_lower(both))) {
      return Reading{at + 1, "or"};
    }
    // "7 days/wk."
    const auto several = tokens.is_word(at - 1) && tokens.text(at - 1).ends_with('s')
                             ? spoken_of(kShort, tokens.text(at + 1))
                             : std::nullopt;
    if (several && tokens.ends_word(at + 2)) {
      return Reading{at + 2, std::string(*several)};
    }
    // "$5/adult"
    constexpr auto kCurrencies =
        std::to_array<std::string_view>({"$", "\u00A3", "\u20AC", "\u00A5", "\u20B9"});
    const bool priced =
        tokens.is_digits(at - 1) &&
        ((at > 1 && among(kCurrencies, tokens.text(at - 2))) ||
         (at > 3 && tokens.is(at - 2, ".") && among(kCurrencies, tokens.text(at - 4))));
    if (priced && tokens.text(at + 1).size() > 2 && is_ascii_lower(tokens.text(at + 1)[0])) {
      return Reading{at + 1, "per"};
    }
    if (among(kPer, tokens.text(at + 1))) {
      return Reading{at + 1, "per"};
    }
    // "2 tbsp butter/margarine"
    const bool foods = (among(WordList{"foods"}, tokens.text(at - 1)) ||
                        among(WordList{"foods"}, tokens.text(at + 1))) &&
                       std::ranges::all_of(tokens.text(at + 1), is_ascii_lower) &&
                       std::ranges::all_of(tokens.text(at - 1), is_ascii_lower) &&
                       tokens.begins_word(at - 1) && tokens.ends_word(at + 2);
    return Reading{at + 1, foods ? "or" : "slash"};
  }
  // "3/$7": so many for so much.
  if (at > 0 && tokens.is_digits(at - 1) && tokens.is(at + 1, "$") && tokens.is_digits(at + 2)) {
    return Reading{at + 1, "for"};
  }
  if (divides_apart(tokens, at)) {
    return Reading{at + 1, "over"};
  }
  const bool verse = at > 0 && tokens.is_space(at - 1) && tokens.is_space(at + 1);
  return Reading{at + 1, verse ? "," : "slash"};
}

}  // namespace mynah
