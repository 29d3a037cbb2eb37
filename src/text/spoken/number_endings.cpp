// Numbers with an ending: "1st", "1990s", "49ers".
#include "text/spoken/number_endings.h"

#include <algorithm>
#include <array>
#include <string>

#include "text/spoken/calendar.h"
#include "text/spoken/cardinals.h"
#include "text/spoken/characters.h"
#include "text/spoken/codes.h"
#include "text/spoken/quantity.h"
#include "text/spoken/word_tables.h"

namespace mynah {
namespace {

// Whether a number is written so: "1st" and "21st", but "12st" is a weight. "th" goes with all.
bool is_ordinal_suffix(std::string_view suffix, std::string_view number) {
  // "2d Cir.", as American courts have it.
  if (suffix == "th" || suffix == "d") {
    return suffix == "th" || number.ends_with('2') || number.ends_with('3');
  }
  constexpr std::array<std::pair<std::string_view, char>, 3> kLast = {
      {{"st", '1'}, {"nd", '2'}, {"rd", '3'}}};
  const auto* const known =
      std::ranges::find(kLast, suffix, [](const auto& last) { return last.first; });
  const bool teen = number.size() > 1 && number[number.size() - 2] == '1';
  return known != kLast.end() && number.ends_with(known->second) && !teen;
}

// "21st 4lb", "11 st 5 lb": whether pounds stand behind "st" at `at`.
bool is_weight_in_stone(const Tokens& tokens, size_t at) {
  constexpr auto kPounds = std::to_array<std::string_view>({"lb", "lbs", "pounds"});
  const size_t number = tokens.skip_space(at + 1);
  return tokens.is(at, "st") && tokens.is_digits(number, 1, 2) &&
         among(kPounds, tokens.text(tokens.skip_space(number + 1)));
}

// "1st", "1,000th"; nothing for "3rd-party".
std::optional<Reading> ordinal_at(const Tokens& tokens, size_t at, const SpokenOptions& options) {
  const auto quantity = quantity_at(tokens, at);
  if (!quantity || !quantity->decimals.empty() || !quantity->fraction.empty() ||
      !quantity->sign.empty() || !tokens.is_word(quantity->end)) {
    return std::nullopt;
  }
  const std::string suffix = ascii_lower(tokens.text(quantity->end));
  constexpr auto kCourts = std::to_array<std::string_view>(
      {"Cir",      "Dist",     "Ed",      "Sess",     "Dept",     "floor",     "Floor",
       "St",       "Street",   "Ave",     "Avenue",   "Regiment", "Battalion", "Brigade",
       "Division", "Congress", "Cavalry", "Infantry", "Lt",       "Lieutenant"});
  const bool court = among(kCourts, tokens.word_behind(quantity->end + 1));
  if ((suffix == "d" && !court) || !is_ordinal_suffix(suffix, quantity->whole) ||
      is_weight_in_stone(tokens, quantity->end)) {
    return std::nullopt;
  }
  // "the 20th-c. writer", "18th cent. art"
  const size_t next = quantity->end + 1;
  const size_t century = tokens.is(next, "-") || tokens.is_space(next) ? next + 1 : next;
  const bool named =
      century > next && tokens.is(century + 1, ".") &&
      (tokens.is(century, "c") || tokens.is(century, "C") || tokens.is(century, "cent"));
  // "on Thurs. 12th"
  const size_t day = at > 1 && tokens.is_space(at - 1) && tokens.is(at - 2, ".") ? at - 2 : at;
  std::string words = day_name(tokens.word_before(day)).empty() ? "" : "the ";
  words += ordinal_words(quantity->whole, options.dialect);
  if (named) {
    return Reading{tokens.ends_text(century + 2) ? century + 1 : century + 2, words + " century"};
  }
  // "the 10,000th km"
  constexpr auto kUnits = std::to_array<std::string_view>({"km", "mi", "yd", "kg"});
  if (tokens.is_space(next) && among(kUnits, tokens.text(next + 1))) {
    if (const auto unit = unit_at(tokens, next, true, options.dialect)) {
      return Reading{unit->end, words + " " + unit->words};
    }
  }
  return Reading{next, std::move(words)};
}

// Whether the digits at `at` are a model's behind its letters: "MP3s", "F-16s".
bool is_model_number(const Tokens& tokens, size_t at) {
  if (at > 1 && tokens.is(at - 1, "-")) {
    const std::string_view letters = tokens.text(at - 2);
    return is_all_capitals(letters) || (letters.size() == 1 && is_capitalised(letters));
  }
  return at > 0 && tokens.is_word(at - 1);
}

// "1990s", "1990's", "the '90s", "80s", "747s", "MP3s". `last`: it ends a range, so that it is a
// plural whatever stands before it.
std::optional<Reading> plural_at(const Tokens& tokens, size_t at, bool last,
                                 const SpokenOptions& options) {
  const bool short_form = tokens.is(at, "'") && tokens.is_digits(at + 1, 2, 2);
  const size_t digits = short_form ? at + 1 : at;
  const size_t suffix = tokens.is(digits + 1, "'") ? digits + 2 : digits + 1;
  if (!tokens.is_digits(digits, 1, 4) || (at > 0 && tokens.is(at - 1, ".")) ||
      !tokens.ends_word(suffix + 1) || !(tokens.is(suffix, "s") || tokens.is(suffix, "S"))) {
    return std::nullopt;
  }
  const std::string_view number = tokens.text(digits);
  // "msys2's shell"
  if (suffix == digits + 2 && digits > 0 && tokens.is_word(digits - 1) &&
      is_ascii_lower(tokens.text(digits - 1).back())) {
    return std::nullopt;
  }
  if (suffix == digits + 2 && number.size() == 4 && !number.ends_with('0')) {
    return std::nullopt;  // "2024's best"
  }
  constexpr auto kBefore = std::to_array<std::string_view>(
      {"the", "their", "his",  "her",  "my",  "our",     "your", "mid", "late", "early",   "The",
       "two", "three", "four", "five", "six", "several", "many", "few", "both", "straight"});
  // "10s" is ten seconds, "in the 80s" a decade.
  const bool model = is_model_number(tokens, digits);
  // "highs in the low 50s"
  constexpr auto kLow = std::to_array<std::string_view>({"low", "high", "upper", "lower"});
  constexpr size_t kNear = 24;  // tokens
  const bool tens =
      number.size() == 2 && number[1] == '0' &&
      (among(kLow, tokens.word_before(at)) || is_near(WordList{"temperatures"}, tokens, at, kNear));
  // "under-18s"
  const bool joined = at > 1 && tokens.is(at - 1, "-") && tokens.is_word(at - 2);
  // "80s hair"
  const bool decade = number.size() == 2 && number[1] == '0' && number >= "20" &&
                      among(WordList{"decade-things"}, tokens.word_behind(suffix + 1));
  const bool known = last || model || joined || tens || decade ||
                     (at == 0 ? number >= "20" : among(kBefore, tokens.word_before(at)));
  // "10s of 1,000s", "10s of millions", but "10s of silence"
  const size_t many = suffix + 4;
  constexpr auto kMany =
      std::to_array<std::string_view>({"hundreds", "thousands", "millions", "billions"});
  const bool tens_of = number == "10" && tokens.word_behind(suffix + 1) == "of" &&
                       (tokens.is_digits(many) || among(kMany, tokens.text(many)));
  if (number.size() < 3 && !short_form && !known && !tens_of) {
    return std::nullopt;
  }
  // "100s of nurses"
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kRound = {
      {{"10", "tens"}, {"100", "hundreds"}, {"1000", "thousands"}}};
  const auto* const round =
      std::ranges::find(kRound, number, [](const auto& r) { return r.first; });
  if (round != kRound.end() && !short_form && tokens.word_behind(suffix + 1) == "of") {
    return Reading{suffix + 1, std::string(round->second)};
  }
  if (short_form && number == "00") {
    return Reading{suffix + 1, "two thousands"};
  }
  std::string words = number.size() == 4 && !model ? year_words(number, options.dialect)
                                                   : pair_words(number, options.dialect);
  return Reading{suffix + 1, to_plural(std::move(words))};
}

// "1,000s of fans", "100,000s": so many, and more.
std::optional<Reading> read_many(const Tokens& tokens, size_t at) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kMany = {
      {{"1,000", "thousands"},
       {"10,000", "tens of thousands"},
       {"100,000", "hundreds of thousands"},
       {"1,000,000", "millions"}}};
  for (const auto& [written, spoken] : kMany) {
    const size_t end = at + 1 + (2 * static_cast<size_t>(std::ranges::count(written, ',')));
    const size_t suffix = tokens.is(end, "'") ? end + 1 : end;
    if (tokens.text(at, end) == written && tokens.is(suffix, "s") && tokens.ends_word(suffix + 1)) {
      return Reading{suffix + 1, std::string(spoken)};
    }
  }
  return std::nullopt;
}

}  // namespace

// "1st", "1st-3rd", "5-6th", "19th \u2013 20th".
std::optional<Reading> read_ordinal(const Tokens& tokens, size_t at, const SpokenOptions& options) {
  auto first = ordinal_at(tokens, at, options);
  const bool bare = !first && tokens.is_digits(at, 1, 3) && tokens.begins_word(at);
  if (bare) {
    first = Reading{at + 1, ordinal_words(tokens.text(at), options.dialect)};
  }
  if (!first) {
    return std::nullopt;
  }
  const size_t spaced = tokens.skip_space(first->end);
  const bool en_dash = tokens.is(spaced, "\u2013");
  if (!en_dash && !tokens.is(first->end, "-")) {
    return bare ? std::nullopt : first;
  }
  const size_t begin = en_dash ? tokens.skip_space(spaced + 1) : first->end + 1;
  const auto second = tokens.is_digits(begin) ? ordinal_at(tokens, begin, options) : std::nullopt;
  if (!second) {
    return bare ? std::nullopt : first;
  }
  return Reading{second->end, first->words + " to " + second->words};
}

// "the 49ers": those who have a number.
std::optional<Reading> read_people(const Tokens& tokens, size_t at, const SpokenOptions& options) {
  if (!tokens.is_digits(at, 1, 3) || !tokens.is(at + 1, "ers") || !tokens.begins_word(at)) {
    return std::nullopt;
  }
  const std::string words = cardinal_words(tokens.text(at), options.dialect);
  return Reading{at + 2, words + (words.ends_with('e') ? "rs" : "ers")};
}

// The same, "1990s\u20132000s", and "the class of '24".
std::optional<Reading> read_plural(const Tokens& tokens, size_t at, const SpokenOptions& options) {
  if (auto many = read_many(tokens, at)) {
    return many;
  }
  auto first = plural_at(tokens, at, false, options);
  if (!first) {
    if (!tokens.is(at, "'") || !tokens.is_digits(at + 1, 2, 2) || !tokens.begins_word(at) ||
        !tokens.ends_word(at + 2)) {
      return std::nullopt;
    }
    const std::string_view number = tokens.text(at + 1);
    if (number[0] == '0') {
      return Reading{at + 2,
                     number[1] == '0' ? "oh oh" : "oh " + cardinal_words(number, options.dialect)};
    }
    return Reading{at + 2, pair_words(number, options.dialect)};
  }
  const size_t spaced = tokens.skip_space(first->end);
  const bool en_dash = tokens.is(spaced, "\u2013");
  if (!en_dash && !tokens.is(first->end, "-")) {
    return first;
  }
  const size_t begin = en_dash ? tokens.skip_space(spaced + 1) : first->end + 1;
  const auto second = plural_at(tokens, begin, true, options);
  return second ? Reading{second->end, first->words + " to " + second->words} : first;
}

}  // namespace mynah
