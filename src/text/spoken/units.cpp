// Units behind numbers; data/units.tsv has them.
#include <algorithm>
#include <array>
#include <unordered_map>

#include "text/spoken/cardinals.h"
#include "text/spoken/characters.h"
#include "text/spoken/codes.h"
#include "text/spoken/initials.h"
#include "text/spoken/quantity.h"
#include "text/spoken/reading.h"
#include "text/spoken/word_tables.h"

namespace mynah {
namespace {

struct UnitName {
  std::string_view symbol;
  std::string_view singular;
  std::string_view plural;  // empty: the singular and "s"
};

const UnitName* find_unit(std::string_view symbol) {
  static const auto* const table = [] {
    auto* map = new std::unordered_map<std::string_view, UnitName>();
    for (const auto& [written, row] : table_rows(WordTable::Units)) {
      map->emplace(written, UnitName{.symbol = written, .singular = row[1], .plural = row[2]});
    }
    return map;
  }();
  const auto found = table->find(symbol);
  return found == table->end() ? nullptr : &found->second;
}

std::string name_of(const UnitName& unit, bool singular, EnglishDialect dialect) {
  std::string name = with_letter_names(unit.singular);
  if (!singular) {
    name = unit.plural.empty() ? name + "s" : with_letter_names(unit.plural);
  }
  if (dialect == EnglishDialect::British) {
    for (const std::string_view end : {"meter", "liter"}) {
      if (const size_t at = name.find(end); at != std::string::npos) {
        name.replace(at + end.size() - 2, 2, "re");
      }
    }
  }
  return name;
}

// "²", "^2" or a plain "2" behind a symbol of length or time, "kg/m2", at `at`: 2 or 3, and where
// it ends.
std::pair<int, size_t> power_at(const Tokens& tokens, size_t at) {
  constexpr auto kPlain =
      std::to_array<std::string_view>({"m", "cm", "mm", "km", "dm", "ft", "yd", "mi", "s"});
  if ((tokens.is(at, "2") || tokens.is(at, "3")) && at > 0 && among(kPlain, tokens.text(at - 1)) &&
      tokens.ends_word(at + 1) && !(tokens.is(at + 1, ".") && tokens.is_digits(at + 2))) {
    return {tokens.is(at, "2") ? 2 : 3, at + 1};
  }
  if (tokens.is(at, "\u00B2") || tokens.is(at, "\u00B3")) {
    return {tokens.is(at, "\u00B2") ? 2 : 3, at + 1};
  }
  if (tokens.is(at, "^") && (tokens.is(at + 1, "2") || tokens.is(at + 1, "3"))) {
    return {tokens.is(at + 1, "2") ? 2 : 3, at + 2};
  }
  return {0, at};
}

// "⁻¹", "⁻²", "^-1" at `at`: the power that the unit is divided by, and where it ends.
std::pair<int, size_t> negative_power_at(const Tokens& tokens, size_t at) {
  constexpr auto kPowers = std::to_array<std::string_view>({"\u00B9", "\u00B2", "\u00B3"});
  constexpr auto kDigits = std::to_array<std::string_view>({"1", "2", "3"});
  const bool raised = tokens.is(at, "\u207B");
  const bool caret = tokens.is(at, "^") && (tokens.is(at + 1, "-") || tokens.is(at + 1, "\u2212"));
  if (!raised && !caret) {
    return {0, at};
  }
  const size_t digit = at + (raised ? 1 : 2);
  const auto& known = raised ? kPowers : kDigits;
  const auto* const power = std::ranges::find(known, tokens.text(digit));
  return power == known.end() ? std::pair{0, at}
                              : std::pair{static_cast<int>(power - known.begin()) + 1, digit + 1};
}

std::string with_power(std::string name, int power) {
  if (power < 2) {
    return name;
  }
  // "Meter per second squared" (NIST SP 811, table 2), but "per square meter".
  if (name.ends_with("second")) {
    return name + (power == 2 ? " squared" : " cubed");
  }
  return (power == 2 ? "square " : "cubic ") + name;
}

// What a bare letter that is also a word or a name means a unit by: only directly behind the digits
// or where it ends ("5 m away" is meters; "5 in the morning" is not inches).
bool is_degree(const Tokens& tokens, size_t at) {
  return tokens.is(at, "\u00B0") || tokens.is(at, "\u00BA");
}

std::optional<Unit> degrees_at(const Tokens& tokens, size_t at, bool singular) {
  if (!is_degree(tokens, at)) {
    return std::nullopt;
  }
  Unit unit{.end = at + 1, .words = singular ? "degree" : "degrees"};
  const size_t letter = tokens.skip_space(at + 1);
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kScales = {
      {{"C", "Celsius"},
       {"F", "Fahrenheit"},
       {"N", "north"},
       {"S", "south"},
       {"E", "east"},
       {"W", "west"}}};
  for (const auto& [symbol, words] : kScales) {
    if (tokens.is(letter, symbol) && tokens.ends_word(letter + 1)) {
      return Unit{.end = letter + 1, .words = unit.words + " " + std::string(words)};
    }
  }
  return unit;
}

// "sq ft", "sq. km", "cu m", "square ft".
std::optional<Unit> square_at(const Tokens& tokens, size_t at, bool singular,
                              EnglishDialect dialect) {
  const bool square = tokens.is(at, "sq");
  if (!square && !tokens.is(at, "cu")) {
    return std::nullopt;
  }
  // "a 1,200-sq.-ft. flat"
  const size_t stop = tokens.is(at + 1, ".") ? at + 2 : at + 1;
  const size_t unit = tokens.is(stop, "-") ? stop + 1 : tokens.skip_space(stop);
  static constexpr UnitName kInch = {.symbol = "in", .singular = "inch", .plural = "inches"};
  const UnitName* name = tokens.is(unit, "in") ? &kInch : find_unit(tokens.text(unit));
  if (name == nullptr) {
    return std::nullopt;
  }
  return Unit{.end = unit + 1,
              .words = with_power(name_of(*name, singular, dialect), square ? 2 : 3)};
}

// Whether "pt" is a pint where a word for what is poured or picked follows: "1 pt milk", "2 pts of
// cream"; else it is a point ("12 pt type", "20 pts").
bool is_pint(const Tokens& tokens, size_t at) {
  constexpr auto kPoured = std::to_array<std::string_view>(
      {"milk",         "cream",       "water",       "beer",       "ale",      "stout",   "cider",
       "blood",        "ice",         "stock",       "broth",      "juice",    "bottle",  "bottles",
       "jar",          "jars",        "carton",      "cartons",    "glass",    "glasses", "mug",
       "tub",          "container",   "containers",  "buttermilk", "yogurt",   "yoghurt", "sour",
       "heavy",        "whipping",    "whole",       "skim",       "boiling",  "cold",    "warm",
       "vinegar",      "wine",        "oil",         "berries",    "half",     "lager",   "bitter",
       "strawberries", "blueberries", "raspberries", "cherry",     "tomatoes", "soup",    "sauce"});
  const size_t behind = tokens.is(at + 1, ".") ? at + 2 : at + 1;
  const size_t of = tokens.skip_space(behind);
  return among(kPoured,
               tokens.is(of, "of") ? tokens.word_behind(of + 1) : tokens.word_behind(behind));
}

// Letters that mean something else behind a number and a space: "Section 5 A", "the 3 s in it".
bool wants_no_space(std::string_view symbol) {
  constexpr auto kSymbols =
      std::to_array<std::string_view>({"s", "A", "N", "J", "h", "st", "us", "bar", "t"});
  return std::ranges::find(kSymbols, symbol) != kSymbols.end();
}

// Letters that mean something else directly behind a number: "5K" is thousands, "5G" no unit.
bool wants_space(std::string_view symbol) {
  constexpr auto kSymbols = std::to_array<std::string_view>({"K", "A", "N", "J", "t"});
  return std::ranges::find(kSymbols, symbol) != kSymbols.end();
}

// "0.5 M NaOH", "a 2 M solution": moles in a liter, before what is dissolved.
bool is_molar(const Tokens& tokens, size_t at, EnglishDialect dialect) {
  if (!tokens.is(at, "M") || !tokens.is_space(at + 1)) {
    return false;
  }
  SpokenOptions options;
  options.dialect = dialect;
  return among(WordList{"solutes"}, ascii_lower(tokens.text(at + 2))) ||
         read_chemical(tokens, at + 2, options).has_value();
}

// Whether the text around `at` speaks of rates, so that "bps" are hundredths of a percent.
bool is_of_rates(const Tokens& tokens, size_t at) {
  constexpr size_t kNear = 32;  // tokens
  for (size_t i = at > kNear ? at - kNear : 0; i < at + kNear && !tokens.is_end(i); ++i) {
    if (tokens.is(i, "%") ||
        (tokens.is_word(i) && among(WordList{"rates"}, ascii_lower(tokens.text(i))))) {
      return true;
    }
  }
  return false;
}

// What a symbol is in some company alone, and symbols of several tokens.
std::optional<Unit> unit_in_company(const Tokens& tokens, size_t unit, bool singular,
                                    EnglishDialect dialect) {
  const std::string_view symbol = tokens.text(unit);
  constexpr size_t kArms = 8;  // tokens
  if (symbol == "cal" && is_near(WordList{"firearms"}, tokens, unit, kArms)) {
    return Unit{.end = unit + 1, .words = "caliber"};
  }
  if (is_molar(tokens, unit, dialect)) {
    return Unit{.end = unit + 1, .words = "molar"};
  }
  if (symbol == "fl") {
    const size_t ounce = tokens.skip_space(tokens.is(unit + 1, ".") ? unit + 2 : unit + 1);
    if (tokens.is(ounce, "oz")) {
      return Unit{.end = ounce + 1, .words = singular ? "fluid ounce" : "fluid ounces"};
    }
  }
  if ((symbol == "pt" || symbol == "pts") && is_pint(tokens, unit)) {
    return Unit{.end = unit + 1, .words = singular ? "pint" : "pints"};
  }
  if (symbol == "mm" && tokens.is_space(unit + 1) && tokens.is(unit + 2, "Hg")) {
    return Unit{.end = unit + 3, .words = name_of(*find_unit("mmHg"), singular, dialect)};
  }
  // "940 mb" beside winds
  constexpr size_t kNear = 24;  // tokens
  if (symbol == "mb" && is_near(WordList{"winds"}, tokens, unit, kNear)) {
    return Unit{.end = unit + 1, .words = singular ? "millibar" : "millibars"};
  }
  if (symbol == "pp" && is_of_rates(tokens, unit)) {
    return Unit{.end = unit + 1, .words = singular ? "percentage point" : "percentage points"};
  }
  if ((symbol == "bps" || symbol == "bp" || symbol == "bpts") && is_of_rates(tokens, unit)) {
    return Unit{.end = unit + 1, .words = singular ? "basis point" : "basis points"};
  }
  // "45 m.p.h."
  if (symbol.size() == 1 && tokens.is(unit + 1, ".") && tokens.text(unit + 2).size() == 1 &&
      tokens.is(unit + 3, ".") && tokens.text(unit + 4).size() == 1) {
    const std::string joined = std::string(symbol) + std::string(tokens.text(unit + 2)) +
                               std::string(tokens.text(unit + 4));
    if (const UnitName* const dotted = find_unit(joined)) {
      const bool stop = tokens.is(unit + 5, ".") && !tokens.ends_text(unit + 6);
      return Unit{.end = unit + (stop ? 6 : 5), .words = name_of(*dotted, singular, dialect)};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Unit> divisor_unit_at(const Tokens& tokens, size_t at, EnglishDialect dialect) {
  const std::string_view word = tokens.text(at);
  // "$200/sq. ft."
  if (auto square = square_at(tokens, at, true, dialect)) {
    return square;
  }
  if (among(WordList{"per-words"}, word)) {
    return Unit{.end = at + 1, .words = std::string(word)};
  }
  if (const UnitName* unit = find_unit(word)) {
    const auto [power, end] = power_at(tokens, at + 1);
    return Unit{.end = end, .words = with_power(name_of(*unit, true, dialect), power)};
  }
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kShort = {
      {{"mo", "month"}, {"wk", "week"}, {"d", "day"}, {"y", "year"}}};
  for (const auto& [symbol, name] : kShort) {
    if (word == symbol) {
      return Unit{.end = at + 1, .words = std::string(name)};
    }
  }
  return std::nullopt;
}

std::optional<Unit> unit_at(const Tokens& tokens, size_t at, bool singular,
                            EnglishDialect dialect) {
  const size_t unit = tokens.is(at, "-") ? at + 1 : tokens.skip_space(at);
  if (auto degrees = degrees_at(tokens, unit, singular)) {
    return degrees;
  }
  if (auto square = square_at(tokens, unit, singular, dialect)) {
    return square;
  }
  const std::string_view symbol = tokens.text(unit);
  if (is_initial(tokens, unit)) {
    return std::nullopt;
  }
  // "In 2020 Mt. Etna erupted"
  if (symbol == "Mt" &&
      (tokens.is(unit + 1, ".") || is_capitalised(tokens.word_behind(unit + 1)))) {
    return std::nullopt;
  }
  if (auto named = unit_in_company(tokens, unit, singular, dialect)) {
    return named;
  }
  const UnitName* name = tokens.is_word(unit) || symbol == "\u03A9" ? find_unit(symbol) : nullptr;
  if (name == nullptr) {
    return std::nullopt;
  }
  // "5 s\u207B\u00B9"
  if (const auto [below, behind] = negative_power_at(tokens, unit + 1);
      below != 0 && !tokens.is(behind, "\u00B7")) {
    return Unit{.end = behind, .words = "per " + with_power(name_of(*name, true, dialect), below)};
  }
  const auto [power, powered] = power_at(tokens, unit + 1);
  size_t end = powered;
  std::string words = with_power(name_of(*name, singular, dialect), power);
  bool compound = power != 0;
  // "4 lbs./1,000 sq. ft."
  const bool stopped = tokens.is(end, ".") && tokens.is(end + 1, "/") && tokens.is_digits(end + 2);
  if (stopped) {
    ++end;
  }
  if (tokens.is(end, "/")) {
    // "4.5 l/100 km"
    constexpr auto kCounts = std::to_array<std::string_view>({"10", "100", "1000"});
    const auto count = tokens.is_digits(end + 1) ? quantity_at(tokens, end + 1) : std::nullopt;
    const bool counted =
        count && count->decimals.empty() && (among(kCounts, count->whole) || count->grouped);
    const size_t below = counted ? tokens.skip_space(count->end) : end + 1;
    if (const auto divisor = divisor_unit_at(tokens, below, dialect)) {
      const UnitName* const several = counted ? find_unit(tokens.text(below)) : nullptr;
      const auto square = counted ? square_at(tokens, below, false, dialect) : std::nullopt;
      words += " per ";
      words += counted ? quantity_words(*count, dialect) + " " : "";
      words += several != nullptr ? name_of(*several, false, dialect)
                                  : (square ? square->words : divisor->words);
      end = divisor->end;
      compound = true;
      // "10 mL/kg/h"
      const auto again = !counted && tokens.is(end, "/") ? divisor_unit_at(tokens, end + 1, dialect)
                                                         : std::nullopt;
      if (again && tokens.ends_word(again->end)) {
        words += " per " + again->words;
        end = again->end;
      }
    }
  }
  if (stopped && !compound) {
    --end;
  }
  // "20 N·m", "30 lb-ft": one measure times another.
  const UnitName* const times =
      tokens.is(end, "\u00B7") || tokens.is(end, "-") ? find_unit(tokens.text(end + 1)) : nullptr;
  const bool torque = (symbol == "lb" && tokens.is(end + 1, "ft")) ||
                      (symbol == "ft" && tokens.text(end + 1).starts_with("lb"));
  if (times != nullptr && negative_power_at(tokens, end + 2).first == 0 &&
      tokens.ends_word(end + 2) && (torque || tokens.is(end, "\u00B7"))) {
    words = name_of(*name, true, dialect) + " " + name_of(*times, singular, dialect);
    end += 2;
    compound = true;
  }
  // "m s⁻²", "kg·m⁻³"
  for (int factors = 0; factors < 3; ++factors) {
    const size_t next = tokens.is_space(end) || tokens.is(end, "\u00B7") ? end + 1 : end;
    const UnitName* const below = next > end ? find_unit(tokens.text(next)) : nullptr;
    const auto [divisor, behind] = negative_power_at(tokens, next + 1);
    if (below == nullptr || divisor == 0) {
      break;
    }
    words += " per " + with_power(name_of(*below, true, dialect), divisor);
    end = behind;
    compound = true;
  }
  constexpr auto kHyphened = std::to_array<std::string_view>({"m", "L", "W", "V", "g"});
  const bool spaced = unit > at;
  // "12 A", "300 K" and "5 N" are amps, kelvins and newtons, not grades, where nothing follows.
  const std::string_view behind = tokens.text(tokens.skip_space(end));
  const bool stands_alone =
      !tokens.is_word(tokens.skip_space(end)) ||
      ((symbol == "t" || symbol == "h") && among(WordList{"no-nouns"}, behind)) ||
      (symbol == "s" && at > 1 && tokens.is(at - 2, ".") &&
       among(WordList{"no-nouns"}, behind));  // "0.03 s off"
  // "3.2 s" too, "11 st 5 lb", and "a 10 A fuse", "13A plugs".
  constexpr size_t kCircuit = 12;  // tokens
  const bool wired =
      symbol == "A" && (among(WordList{"wired"}, ascii_lower(behind)) ||
                        (stands_alone && is_near(WordList{"circuit"}, tokens, unit, kCircuit)));
  const bool apart =
      ((wants_space(symbol) || symbol == "s" || symbol == "st" || symbol == "h") && stands_alone) ||
      wired;
  if (!compound &&
      ((spaced && wants_no_space(symbol) && !apart) || (!spaced && wants_space(symbol) && !wired) ||
       (tokens.is(at, "-") && symbol.size() == 1 && !among(kHyphened, symbol)))) {
    return std::nullopt;
  }
  if (!tokens.ends_word(end)) {
    return std::nullopt;
  }
  return Unit{.end = end, .words = std::move(words)};
}

std::optional<Reading> read_compound_unit(const Tokens& tokens, size_t at,
                                          const SpokenOptions& options) {
  // Words and times stand beside a stroke as alternatives, and so do two units of one kind:
  // "lb/kg".
  constexpr auto kNoDividends = std::to_array<std::string_view>(
      {"us", "bar", "bit", "rad", "gal", "st",  "cal", "min", "mins", "sec", "secs",
       "hr", "hrs", "yr",  "yrs", "mo",  "mos", "wk",  "wks", "pt",   "pts"});
  constexpr auto kDivisors = std::to_array<std::string_view>(
      {"s",    "sec", "second", "min", "minute", "h", "hr", "hour", "d",  "day", "wk",
       "week", "mo",  "month",  "yr",  "year",   "L", "dL", "mL",   "ml", "dl"});
  const std::string_view symbol = tokens.text(at);
  // "3 L per min": a symbol, no word such as "litre".
  constexpr size_t kLongestSymbol = 4;
  const UnitName* const below = tokens.is_word(at) ? find_unit(symbol) : nullptr;
  if (below != nullptr && symbol.size() > 1 && symbol.size() <= kLongestSymbol &&
      tokens.word_before(at) == "per" && tokens.ends_word(at + 1)) {
    return Reading{at + 1, name_of(*below, true, options.dialect)};
  }
  const UnitName* const unit = symbol.size() > 1 && !among(kNoDividends, symbol) &&
                                       tokens.is_word(at) && tokens.begins_word(at)
                                   ? find_unit(symbol)
                                   : nullptr;
  if (unit == nullptr || (at > 0 && tokens.is(at - 1, "/"))) {
    return std::nullopt;
  }
  const auto [power, end] = power_at(tokens, at + 1);
  const auto divisor =
      tokens.is(end, "/") ? divisor_unit_at(tokens, end + 1, options.dialect) : std::nullopt;
  if (!divisor || !tokens.ends_word(divisor->end) || tokens.is(divisor->end, "/") ||
      (divisor->end == end + 2 && !among(kDivisors, tokens.text(end + 1)))) {
    return std::nullopt;
  }
  return Reading{divisor->end, with_power(name_of(*unit, false, options.dialect), power) + " per " +
                                   divisor->words};
}

}  // namespace mynah
