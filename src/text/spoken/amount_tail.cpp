#include "text/spoken/amount_tail.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "text/spoken/abbreviations.h"
#include "text/spoken/characters.h"
#include "text/spoken/inches.h"
#include "text/spoken/quantity.h"
#include "text/spoken/reading.h"
#include "text/spoken/word_tables.h"

namespace mynah {
namespace {

// "a 5k", "ran the 10k": a run's length is "K", and a screen's width ("4K").
bool says_letter_k(const Tokens& tokens, size_t number, size_t at) {
  constexpr auto kRaces = std::to_array<std::string_view>({"5", "10"});
  constexpr auto kArticles = std::to_array<std::string_view>(
      {"a", "A", "the", "The", "my", "My", "your", "his", "her", "our", "their", "first", "this"});
  constexpr auto kRunning = std::to_array<std::string_view>(
      {"run",  "runs",   "running", "ran",    "race",   "races",   "raced",
       "walk", "walked", "jog",     "jogged", "runner", "runners", "loop",
       "pace", "swim",   "swam",    "ride",   "rode",   "marathon"});
  constexpr auto kWidths =
      std::to_array<std::string_view>({"2", "4", "5", "6", "8", "10", "12", "16"});
  constexpr auto kScreens = std::to_array<std::string_view>(
      {"videos", "screens", "monitors", "displays", "cameras", "movies", "films", "projectors"});
  const std::string_view digits = tokens.text(number);
  const std::string_view before = tokens.word_before(number);
  const std::string_view behind = tokens.word_behind(at + 1);
  if (among(kRunning, before) || among(kRunning, behind) ||
      (number + 1 == at && among(kRaces, digits) && among(kArticles, before))) {
    return true;
  }
  const bool counted = is_counted(behind) && !among(kScreens, behind);
  return tokens.is(at, "K") && number + 1 == at && among(kWidths, digits) && !counted;
}

// "30k", "3bn", "5T" at `at`.
Tail scale_tail_at(const Tokens& tokens, size_t number, size_t at, EnglishDialect dialect) {
  const auto scale = scale_at(tokens, at, ScaleLetters::Known);
  // "B2B" is no amount, "5 million" is no letter.
  // Nor is "i7-13700K".
  const bool joined = number > 1 && tokens.is(number - 1, "-");
  const bool letters = joined && tokens.text(number - 2).size() <= 3 &&  // "F-35B", "CH-47F"
                       std::ranges::all_of(tokens.text(number - 2), is_ascii_upper);
  const bool model = joined && (tokens.is_digits(number - 2) || letters);
  const bool beside_word = model || (number > 0 && tokens.is_word(number - 1));
  // "40 trn km", "5 bn people"
  constexpr auto kApart = std::to_array<std::string_view>({"bn", "bln", "tn", "trn"});
  if (scale && !beside_word && tokens.is_space(at) && among(kApart, tokens.text(at + 1))) {
    return {scale->end, std::string(scale->word)};
  }
  if (beside_word || !scale || scale->end != at + 1) {
    return {at, ""};
  }
  if (tokens.is(at, "m")) {
    // "2m of the 67m residents"
    const bool of =
        tokens.word_behind(at + 1) == "of" &&
        ((tokens.is(at + 4, "the") && tokens.is_digits(at + 6)) || tokens.is_digits(at + 4));
    // "1.5m km of cable"
    const bool measured = tokens.is_space(at + 1) && tokens.is_word(at + 2) &&
                          tokens.text(at + 2).size() > 1 &&
                          unit_at(tokens, at + 1, false, dialect).has_value();
    const size_t sign = at + (tokens.is(at + 1, "+") ? 2U : 1U);  // "2m+ copies"
    // "the 5.3m NHS waiting list"
    const std::string_view thing = tokens.word_behind(at + 1);
    const bool body =
        is_all_capitals(thing) && thing.size() > 2 && !among(WordList{"devices"}, thing);
    const bool millions = of || measured || body ||
                          among(WordList{"millions"}, ascii_lower(tokens.word_behind(sign)));
    return millions ? Tail{scale->end, "million"} : Tail{at, ""};
  }
  // "Rule 240.10b-5"
  if (tokens.is(at, "b") && tokens.is(at + 1, "-") && tokens.is_digits(at + 2)) {
    return {scale->end, spell("b")};
  }
  const std::string_view letter = tokens.text(at);
  // "Llama 3.1 70B"
  constexpr size_t kModel = 8;  // tokens
  if (letter == "B" && is_near(WordList{"language-models"}, tokens, at, kModel)) {
    return {scale->end, spell(letter)};
  }
  const bool thousand = letter == "k" || letter == "K";
  // "a 2700K bulb"
  const bool kelvin = letter == "K" && number + 1 == at && tokens.text(number).size() > 3;
  if (letter == "T" || letter == "t" || kelvin || (thousand && says_letter_k(tokens, number, at))) {
    return {scale->end, spell(letter)};
  }
  return {scale->end, std::string(scale->word)};
}

}  // namespace

Tail unit_tail_at(const Tokens& tokens, size_t number, size_t at, bool singular,
                  const SpokenOptions& options) {
  const size_t sign = tokens.skip_space(at);
  // "a G2V star"
  if (number > 0 && tokens.is_word(number - 1) && tokens.is_word(at) &&
      tokens.text(at).size() == 1) {
    return {at, ""};
  }
  // "2 T. oil, 1 t. cumin"
  constexpr size_t kNear = 12;  // tokens
  const std::string_view of = tokens.word_behind(sign + 2);
  if (sign > at && tokens.is(sign + 1, ".") && (tokens.is(sign, "T") || tokens.is(sign, "t")) &&
      !of.empty() && is_ascii_lower(of[0]) && is_near(WordList{"foods"}, tokens, at, kNear)) {
    const std::string spoon = tokens.is(sign, "T") ? "tablespoon" : "teaspoon";
    return {sign + 2, singular ? spoon : spoon + "s"};
  }
  if (tokens.is(sign, "%")) {
    return {sign + 1, "percent"};
  }
  if (tokens.is(sign, "\u2030")) {
    return {sign + 1, "per mille"};
  }
  if (const auto unit = unit_at(tokens, at, singular, options.dialect)) {
    Tail tail{unit->end, unit->words};
    // "a 10-ft.-tall box"
    if (tokens.is(tail.end, ".") && tokens.is(tail.end + 1, "-") && tokens.is_word(tail.end + 2)) {
      return {tail.end + 1, tail.words};
    }
    // "2 gal./min."
    if (tokens.is(tail.end, ".") && tokens.is(tail.end + 1, "/")) {
      const auto per = divisor_unit_at(tokens, tail.end + 2, options.dialect);
      if (per && tokens.ends_word(per->end)) {
        return {per->end, tail.words + " per " + per->words};
      }
    }
    // "6 ft. tall"
    const size_t next = tail.end + 2;
    const bool goes_on =
        tokens.is_digits(next) || (tokens.is_word(next) && is_ascii_lower(tokens.text(next)[0]));
    // "12 min. @ 400°", "2 c. + 1 tsp."
    constexpr auto kJoining = std::to_array<std::string_view>({"@", "&", "+", "=", "("});
    const bool joined = among(kJoining, tokens.text(next));
    // "5 mi. NE of town"
    const bool compass = tokens.text(next).size() <= 2 && is_all_capitals(tokens.text(next)) &&
                         tokens.word_behind(next + 1) == "of";
    // "the 10-yr. Treasury yield", "a 45-yd. FG"
    const bool kind = tokens.is(at, "-") && is_capitalised(tokens.text(next)) &&
                      !is_sentence_starter(ascii_lower(tokens.text(next)));
    // "1 fl. oz.; 6 mos., at most"
    constexpr auto kInside = std::to_array<std::string_view>({",", ";", ":", ")"});
    const bool inside =
        among(kInside, tokens.text(tail.end + 1)) && !tokens.ends_text(tail.end + 1);
    if (tokens.is(tail.end, ".") &&
        (inside || (tokens.is_space(tail.end + 1) && (goes_on || compass || joined || kind)))) {
      ++tail.end;
    }
    return tail;
  }
  const std::string_view inches = singular ? "inch" : "inches";
  const size_t inch = tokens.is(at, "-") ? at + 1 : sign;  // "12-in. pan"
  if (tokens.is(inch, "in") && tokens.is(inch + 1, ".")) {
    // "a 5 in. bit" has one inch as its kind, "5 in. wide" several.
    const std::string_view word = singular ? inches : inch_word(tokens, inch + 2);
    const auto per = tokens.is(inch + 2, "/") ? divisor_unit_at(tokens, inch + 3, options.dialect)
                                              : std::nullopt;
    if (per && tokens.ends_word(per->end)) {
      return {per->end, std::string(inches) + " per " + per->words};
    }
    return {tokens.ends_text(inch + 2) ? inch + 1 : inch + 2, std::string(word)};
  }
  // "2 3/4 c. milk": cups; "c. 1850" behind a number is about a year.
  if (tokens.is(sign, "c") && tokens.is(sign + 1, ".") &&
      (tokens.is(tokens.skip_space(sign + 2), "+") || (!of.empty() && is_ascii_lower(of[0])))) {
    return {sign + 2, singular ? "cup" : "cups"};
  }
  if (is_inch_mark(tokens, at)) {
    return {at + 1, std::string(singular ? inches : inch_word(tokens, at + 1))};
  }
  if (is_inch_word(tokens, sign, number)) {
    return {sign + 1, std::string(inches)};
  }
  return {at, ""};
}

namespace {

// "1.5m km", "3bn kWh", "15bn mi. away": the unit behind the scale.
Tail with_unit_behind(const Tokens& tokens, size_t number, Tail scale,
                      const SpokenOptions& options) {
  constexpr auto kScales =
      std::to_array<std::string_view>({"thousand", "million", "billion", "trillion"});
  if (!among(kScales, scale.words) || !tokens.is_space(scale.end) ||
      tokens.text(scale.end + 1).size() < 2) {
    return scale;
  }
  const Tail unit = unit_tail_at(tokens, number, scale.end, false, options);
  return unit.words.empty() || unit.words == "percent"
             ? scale
             : Tail{unit.end, scale.words + " " + unit.words};
}

}  // namespace

Tail tail_at(const Tokens& tokens, size_t number, size_t at, bool singular,
             const SpokenOptions& options) {
  Tail scale =
      with_unit_behind(tokens, number, scale_tail_at(tokens, number, at, options.dialect), options);
  // "93 million mi. away"
  if (tokens.is_space(at) && tokens.is_space(at + 2) &&
      among(WordList{"large-units"}, tokens.text(at + 3))) {
    const Tail whole =
        with_unit_behind(tokens, number, {at + 2, std::string(tokens.text(at + 1))}, options);
    if (whole.end > at + 2) {
      return whole;
    }
  }
  if (tokens.is(at, "m") && !scale.words.empty()) {
    return scale;
  }
  if (Tail unit = unit_tail_at(tokens, number, at, singular, options); !unit.words.empty()) {
    return unit;
  }
  // "2x faster", but "2x + 1" and "2x^2" have an unknown in them.
  const size_t behind_x = tokens.skip_space(at + 1);
  constexpr auto kOperators = std::to_array<std::string_view>({"=", "+", "\u2212"});
  const bool equals =
      number > 1 && tokens.is_space(number - 1) && among(kOperators, tokens.text(number - 2));
  const bool power = tokens.is(behind_x, "\u00B2") || tokens.is(behind_x, "\u00B3");
  if (tokens.is(at, "x") && !equals && !power && tokens.ends_word(at + 1) &&
      std::string_view("+-=^*/").find(tokens.is_end(behind_x) ? ' ' : tokens.text(behind_x)[0]) ==
          std::string_view::npos) {
    return {at + 1, "times"};
  }
  // "2x/day"
  if (tokens.is(at, "x") && tokens.is(at + 1, "/")) {
    const auto per = divisor_unit_at(tokens, at + 2, options.dialect);
    if (per && tokens.ends_word(per->end)) {
      return {per->end, "times per " + per->words};
    }
  }
  return scale;
}

bool stands_before_noun(const Tokens& tokens, size_t at, const Tail& tail) {
  constexpr auto kDeterminers = std::to_array<std::string_view>(
      {"the", "his",  "her",   "its", "their", "our", "my",  "your",  "this", "that", "another",
       "one", "each", "every", "The", "His",   "Her", "Its", "Their", "Our",  "My",   "This"});
  const std::string_view noun = tokens.word_behind(tail.end);
  // The individual medley; "1.5V AA cells".
  if ((noun == "IM" || noun == "AA" || noun == "AAA") && !tail.words.empty()) {
    return true;
  }
  // "the 5.0 L V8", "the 750W PSU", "240V AC mains"
  const size_t behind = tokens.skip_space(tail.end);
  const bool engine = noun == "V" && tokens.is_digits(behind + 1, 1, 2);
  const bool device = among(WordList{"devices"}, noun);
  const bool current = (noun == "AC" || noun == "DC") &&
                       among(WordList{"measured-nouns"}, tokens.word_behind(behind + 1));
  if (!tail.words.empty() && (engine || device || current)) {
    return true;
  }
  if (tail.words.empty() || noun.empty() || !is_ascii_lower(noun[0]) || tail.words == "percent" ||
      tail.words == "times") {
    return false;
  }
  if (among(WordList{"measured-nouns"}, noun)) {
    return true;
  }
  const bool no_noun = among(WordList{"no-nouns"}, noun) || noun.ends_with("ing") ||
                       noun.ends_with("ed") || noun.ends_with("ly");
  return among(kDeterminers, tokens.word_before(at)) && !no_noun;
}

bool is_attribute(const Tokens& tokens, size_t at, size_t end) {
  const std::string_view before = tokens.word_before(at);
  // "2 (8 oz.) cans"
  bool bracketed =
      at > 2 && tokens.is(at - 1, "(") && tokens.is_space(at - 2) && tokens.is_digits(at - 3);
  constexpr size_t kNear = 6;  // tokens
  size_t close = end;
  while (bracketed && close < end + kNear && !tokens.is(close, ")")) {
    ++close;
  }
  const std::string_view thing = bracketed ? tokens.word_behind(close + 1) : std::string_view();
  bracketed = tokens.is(close, ")") && !thing.empty() &&
              (thing == "can" || !among(WordList{"no-nouns"}, thing));
  return tokens.is(end, "-") || bracketed ||
         ((before == "a" || before == "an" || before == "A" || before == "An") &&
          !tokens.is(end, "%"));
}

}  // namespace mynah
