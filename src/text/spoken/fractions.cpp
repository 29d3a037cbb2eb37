#include "text/spoken/fractions.h"

#include <array>

#include "text/spoken/amount_tail.h"
#include "text/spoken/cardinals.h"
#include "text/spoken/inches.h"
#include "text/spoken/quantity.h"
#include "text/spoken/word_tables.h"

namespace mynah {
namespace {

// "an hour", "a teaspoon".
std::string with_article(const std::string& unit) {
  const bool vowel = std::string_view("aeioA").find(unit[0]) != std::string_view::npos;
  return (vowel || unit.starts_with("hour") ? "an " : "a ") + unit;
}

// "120/80 mmHg", "BP was 120/80": two pressures of the blood, as nurses say them. A fraction of
// three digits by such a number is none either.
std::optional<Reading> read_pressures(const Tokens& tokens, size_t at,
                                      const SpokenOptions& options) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"BP", "bp", "pressure", "Pressure", "pressures", "systolic"});
  constexpr size_t kNear = 12;  // tokens
  const unsigned high = digits_value(tokens.text(at));
  const unsigned low = digits_value(tokens.text(at + 2));
  if (high < 60 || high > 300 || low < 20 || low > 200 || low >= high) {
    return std::nullopt;
  }
  const Tail tail = unit_tail_at(tokens, at, at + 3, false, options);
  bool named = tail.words.ends_with("mercury");
  for (size_t i = at > kNear ? at - kNear : 0; i < at && !named; ++i) {
    named = among(kNames, tokens.text(i));
  }
  const bool usual = high >= 100 && high <= 250 && low >= 40 && low <= 130;
  if (!named && !(usual && tail.words.empty())) {
    return std::nullopt;
  }
  const std::string words = pair_words(tokens.text(at), options.dialect) + " over " +
                            cardinal_words(tokens.text(at + 2), options.dialect);
  return Reading{tail.words.empty() ? at + 3 : tail.end, join_words(words, tail.words)};
}

}  // namespace

std::optional<Reading> read_part_of_unit(const Tokens& tokens, size_t at, size_t end,
                                         std::string_view fraction, const SpokenOptions& options) {
  const Tail tail = unit_tail_at(tokens, at, end, true, options);
  if (tail.words.empty() || fraction.find(" over ") != std::string_view::npos) {
    return std::nullopt;
  }
  const bool hyphen = tokens.is(end, "-");
  // 1/4" bolt, 3/8 in. drill
  const bool thing = tail.words == "inch" && inch_word(tokens, tail.end) == "inch";
  if (hyphen || thing || is_attribute(tokens, at, end)) {
    std::string words(fraction == "one half" ? "half" : fraction);
    if (words.ends_with("quarters")) {
      words.pop_back();  // "a three quarter inch drive"
    }
    return Reading{tail.end, words + (hyphen ? "-" : " ") + tail.words};
  }
  const std::string unit = with_article(tail.words);
  return Reading{tail.end,
                 fraction == "one half" ? "half " + unit : std::string(fraction) + " of " + unit};
}

std::optional<Reading> read_fraction(const Tokens& tokens, size_t at,
                                     const SpokenOptions& options) {
  // "2/3rds", "5/16ths", "1/4th"
  constexpr auto kEndings = std::to_array<std::string_view>({"rds", "ths", "th", "rd", "nds"});
  if (tokens.is_digits(at, 1, 3) && tokens.is(at + 1, "/") && tokens.is_digits(at + 2, 1, 4) &&
      among(kEndings, tokens.text(at + 3)) && tokens.ends_word(at + 4)) {
    return Reading{at + 4,
                   fraction_words(tokens.text(at), tokens.text(at + 2), false, options.dialect)};
  }
  // "2/3x = 4"
  constexpr auto kUnknowns = std::to_array<std::string_view>({"x", "y", "z", "n", "t"});
  if (tokens.is_digits(at, 1, 2) && tokens.is(at + 1, "/") && tokens.is_digits(at + 2, 1, 2) &&
      among(kUnknowns, tokens.text(at + 3)) && tokens.ends_word(at + 4)) {
    return Reading{
        at + 4, fraction_words(tokens.text(at), tokens.text(at + 2), false, options.dialect) + " " +
                    spell(tokens.text(at + 3))};
  }
  if (!tokens.is_digits(at, 1, 4) || !tokens.is(at + 1, "/") || !tokens.is_digits(at + 2, 1, 4) ||
      tokens.is(at + 3, "/") || !tokens.ends_word(at + 3) || (at > 0 && tokens.is(at - 1, "/")) ||
      (tokens.is(at + 3, ".") && tokens.is_digits(at + 4))) {
    return std::nullopt;
  }

  struct Set {
    std::string_view written;
    std::string_view spoken;
  };

  constexpr std::array kSet = std::to_array<Set>({{"24/7", "twenty-four seven"},
                                                  {"9/11", "nine eleven"},
                                                  {"7/7", "seven seven"},
                                                  {"50/50", "fifty-fifty"},
                                                  {"20/20", "twenty twenty"}});
  for (const Set& set : kSet) {
    if (tokens.text(at, at + 3) == set.written) {
      return Reading{at + 3, std::string(set.spoken)};
    }
  }
  const std::string_view above = tokens.text(at);
  const std::string_view below = tokens.text(at + 2);
  // "the 2019/20 season"
  if (above.size() == 4 && digits_value(above) >= 1800 && digits_value(above) < 2100 &&
      ((below.size() == 2 && digits_value(below) == (digits_value(above) + 1) % 100) ||
       (below.size() == 4 && digits_value(below) == digits_value(above) + 1))) {
    return Reading{at + 3, year_words(above, options.dialect) + " " +
                               (below.size() == 2 ? pair_words(below, options.dialect)
                                                  : year_words(below, options.dialect))};
  }
  // "rebuilt in 1803/4"
  if (above.size() == 4 && above >= "1100" && above < "2100" && below.size() == 1 &&
      (digits_value(above) + 1) % 10 == digits_value(below)) {
    return Reading{
        at + 3, year_words(above, options.dialect) + " " + cardinal_words(below, options.dialect)};
  }
  // "a 1/2-price coat"
  if (above == "1" && below == "2" && tokens.is(at + 3, "-") && tokens.text(at + 4) == "price") {
    return Reading{at + 3, "half"};
  }
  // "Regulation (EU) 2016/679"
  constexpr size_t kActs = 10;  // tokens
  if (above.size() == 4 && above >= "1950" && above < "2100" && below.size() > 1 &&
      is_near(WordList{"acts"}, tokens, at, kActs)) {
    return Reading{at + 3,
                   year_words(above, options.dialect) + " " + pair_words(below, options.dialect)};
  }
  if (auto pressures = read_pressures(tokens, at, options)) {
    return pressures;
  }
  // Two shares of a hundred are a split, no fraction: "the 80/20 rule", "a 70/30 mix".
  if (above.size() == 2 && below.size() == 2 && digits_value(above) + digits_value(below) == 100 &&
      unit_tail_at(tokens, at, at + 3, false, options).words.empty()) {
    return Reading{at + 3, cardinal_words(above, options.dialect) + " " +
                               cardinal_words(below, options.dialect)};
  }
  const std::string words = fraction_words(above, below, false, options.dialect);
  if (auto part = read_part_of_unit(tokens, at, at + 3, words, options)) {
    return part;
  }
  // "5/1 odds", "a 7/2 favourite"
  constexpr auto kBets = std::to_array<std::string_view>(
      {"odds", "shot", "favourite", "favorite", "outsider", "chance"});
  // "Op. 27/2"
  const size_t opus = at > 2 && tokens.is_space(at - 1) && tokens.is(at - 2, ".") ? at - 3 : at;
  if (tokens.is(opus, "Op") || tokens.is(opus, "op")) {
    return Reading{at + 3, cardinal_words(above, options.dialect) + " number " +
                               cardinal_words(below, options.dialect)};
  }
  // "in 3/4 time", "in 4/4": beats of a bar.
  constexpr auto kBars =
      std::to_array<std::string_view>({"time", "meter", "metre", "rhythm", "signature", "beat"});
  constexpr auto kBeats = std::to_array<std::string_view>({"2", "4", "8", "16"});
  if (among(kBeats, below) &&
      (among(kBars, tokens.word_behind(at + 3)) ||
       (tokens.word_before(at) == "in" && above == below && tokens.word_behind(at + 3).empty()))) {
    return Reading{at + 3, cardinal_words(above, options.dialect) + " " +
                               cardinal_words(below, options.dialect)};
  }
  constexpr size_t kNear = 20;  // tokens
  const bool improper = digits_value(above) > digits_value(below) && below != "1";
  const bool backed = (improper && is_near(WordList{"betting"}, tokens, at, kNear)) ||
                      (below == "1" && digits_value(above) > 1);
  if (among(kBets, tokens.word_behind(at + 3)) || backed) {
    return Reading{at + 3, cardinal_words(above, options.dialect) + " to " +
                               cardinal_words(below, options.dialect)};
  }
  // Marks and votes: "8/10", "5/5".
  if (below == "10" || below == "100" || (above == below && above != "1")) {
    return Reading{at + 3, cardinal_words(above, options.dialect) + " out of " +
                               cardinal_words(below, options.dialect)};
  }
  return Reading{at + 3, words};
}

}  // namespace mynah
