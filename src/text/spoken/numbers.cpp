// Numbers that are not dates, times, money or telephone numbers.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "text/spoken/amount_tail.h"
#include "text/spoken/cardinals.h"
#include "text/spoken/characters.h"
#include "text/spoken/codes.h"
#include "text/spoken/fractions.h"
#include "text/spoken/inches.h"
#include "text/spoken/number_endings.h"
#include "text/spoken/quantity.h"
#include "text/spoken/reading.h"
#include "text/spoken/word_tables.h"
#include "text/spoken/years.h"

namespace mynah {
namespace {

// "the 737-800", "Boeing 787-9": an airliner and its kind, which begin and end with 7 or follow
// their maker's name.
std::optional<Reading> read_airliner(const Tokens& tokens, size_t at,
                                     const SpokenOptions& options) {
  const std::string_view model = tokens.text(at);
  const bool seven = model.size() == 3 && model[0] == '7' && model[2] == '7';
  const bool made = among(WordList{"aircraft"}, ascii_lower(tokens.word_before(at)));
  if (!tokens.is_digits(at, 2, 3) || !tokens.is(at + 1, "-") || !tokens.is_digits(at + 2, 1, 4) ||
      !(seven || made) || !tokens.begins_word(at) || tokens.is(at + 3, "-")) {
    return std::nullopt;
  }
  return Reading{at + 3, pair_words(model, options.dialect) + " " +
                             pair_words(tokens.text(at + 2), options.dialect)};
}

// "Chapter 01", "Episode 05", "Section 01.2": the zeros before a number that names are not said.
std::string_view without_padding(const Tokens& tokens, size_t at, std::string_view digits) {
  const size_t last = at > 0 && tokens.is_space(at - 1) ? at - 2 : at - 1;
  const size_t word = at > 1 && tokens.is(last, ".") ? last - 1 : last;
  const bool padded = at > 0 && digits.size() > 1 && digits.size() <= 4 && digits[0] == '0' &&
                      among(WordList{"zero-padded"}, ascii_lower(tokens.text(word)));
  const size_t first = padded ? digits.find_first_not_of('0') : 0;
  return digits.substr(first == std::string_view::npos ? digits.size() - 1 : first);
}

// The second half of a range or score, of what was "3-1", "1939-45", "5 – 10".
struct Span {
  size_t end = 0;
  std::string words;
};

bool is_score(const Tokens& tokens, size_t at, size_t end) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"won", "win", "wins", "lost", "beat", "score", "scored", "drew", "draw", "lead", "leading",
       "victory", "loss", "defeat", "defeated", "final", "ended", "finished"});
  constexpr auto kBetween = std::to_array<std::string_view>({"was", "is", "of", "at", "stands"});
  const std::string_view before = tokens.word_before(at);
  // "The score was 2-0"
  const bool named = among(kBetween, before) && among(kWords, tokens.word_before(at - 2));
  return named || among(kWords, before) || among(kWords, tokens.word_behind(end));
}

constexpr size_t kVoteNear = 10;  // tokens

// "a 50-50 chance": two shares of a hundred, but for those of a vote.
bool is_split(std::string_view first, std::string_view second) {
  return first.size() == 2 && second.size() == 2 &&
         digits_value(first) + digits_value(second) == 100;
}

// "Case No. 23-1234": a year and the number of a case.
bool is_docket(const Tokens& tokens, size_t at, std::string_view first, std::string_view second) {
  constexpr auto kNames = std::to_array<std::string_view>({"No", "Nos", "Case", "Docket", "case"});
  const size_t last = at > 0 && tokens.is_space(at - 1) ? at - 2 : at - 1;
  const std::string_view name = tokens.text(at > 2 && tokens.is(last, ".") ? last - 1 : last);
  return first.size() == 2 && second.size() >= 3 && second.size() <= 4 && among(kNames, name);
}

// "50-50", "a 7-10 split", "10-4, over": numbers beside each other; not "passed 52-48".
bool is_said_without_to(const Tokens& tokens, size_t at, std::string_view first,
                        const Quantity& second) {
  const bool shares =
      is_split(first, second.whole) && !is_near(WordList{"votes"}, tokens, at, kVoteNear);
  const bool radio = first == "10" && second.whole == "4" && tokens.is(second.end, ",");
  // "a 3-2 count": balls and strikes.
  const bool count = first.size() == 1 && first[0] <= '3' && second.whole.size() == 1 &&
                     second.whole[0] <= '2' && tokens.word_behind(second.end) == "count";
  return shares || radio || count || tokens.word_behind(second.end) == "split";
}

// "245-6 at stumps", "took 5-32": runs and wickets, of a side or of a bowler.
bool is_wickets(const Tokens& tokens, size_t at, const std::string& first,
                const std::string& second) {
  constexpr auto kBowling = std::to_array<std::string_view>({"took", "figures", "claimed"});
  constexpr size_t kNear = 24;  // tokens
  constexpr unsigned kMostWickets = 10;
  const unsigned runs = first.size() < 4 ? digits_value(first) : 0;
  const unsigned others = second.size() < 4 ? digits_value(second) : 0;
  const std::string_view before = tokens.word_before(at);
  const bool bowled = runs <= kMostWickets && others > runs &&
                      (among(kBowling, before) || tokens.word_before(at - 2) == "figures");
  const bool batted = runs > 2 * kMostWickets && others <= kMostWickets;
  return (bowled || batted) && is_near(WordList{"cricket"}, tokens, at, kNear);
}

std::optional<Span> span_at(const Tokens& tokens, size_t at, const Quantity& first,
                            const SpokenOptions& options) {
  // "1-2-3" counts: its end is no range. Nor is that of "Llama-3-70".
  if (at > 1 && tokens.is(at - 1, "-") &&
      (tokens.is_digits(at - 2) || is_capitalised(tokens.text(at - 2)))) {
    return std::nullopt;
  }
  const size_t dash = tokens.skip_space(first.end);
  const bool en_dash = tokens.is(dash, "\u2013");
  if (!en_dash && !(dash == first.end && tokens.is(dash, "-"))) {
    return std::nullopt;
  }
  const size_t begin = en_dash ? tokens.skip_space(dash + 1) : dash + 1;
  // "1998\u2013present"
  constexpr auto kNow = std::to_array<std::string_view>({"present", "Present", "now", "today"});
  if (among(kNow, tokens.text(begin)) && is_year(tokens, at)) {
    return Span{begin + 1, year_words(first.whole, options.dialect) + " to " +
                               std::string(tokens.text(begin))};
  }
  const auto second = quantity_at(tokens, begin);
  // "18\u201324-year-olds" is a range, "1-2-3" none.
  if (!second || !second->sign.empty() || (second->whole.empty() && second->fraction.empty()) ||
      (tokens.is(second->end, "-") && !tokens.is_word(second->end + 1))) {
    return std::nullopt;
  }
  const bool fractions = first.whole.empty() && first.fraction.starts_with("one ");
  std::string left = quantity_words(first, options.dialect);
  std::string right = quantity_words(*second, options.dialect);
  std::string_view between = " to ";
  const bool whole = first.decimals.empty() && second->decimals.empty();
  // "SKU 12-0045"
  const bool coded = second->whole.size() > 2 && second->whole[0] == '0' && !en_dash;
  if (tokens.is(tokens.skip_space(second->end), "=")) {
    between = " minus ";
  } else if (whole && (coded || is_said_without_to(tokens, at, first.whole, *second))) {
    between = " ";
  } else if (whole && is_wickets(tokens, at, first.whole, second->whole)) {
    between = " for ";
  } else if (whole && is_docket(tokens, at, first.whole, second->whole)) {
    between = " ";
    right = pair_words(second->whole, options.dialect);
  } else if (whole && is_year(tokens, at) &&
             (is_year(tokens, begin) || tokens.is_digits(begin, 2, 2))) {
    left = year_words(first.whole, options.dialect);
    right = second->whole.size() == 2 ? pair_words(second->whole, options.dialect)
                                      : year_words(second->whole, options.dialect);
    if (second->whole.size() == 2 && second->whole[0] == '0') {
      right = "oh " + cardinal_words(second->whole, options.dialect);
    }
  } else if (options.dialect == EnglishDialect::British && whole &&
             is_score(tokens, at, second->end)) {
    between = " ";
    left = first.whole == "0" ? "nil" : left;
    right = second->whole == "0" ? "nil" : right;
  }
  // "½–¾ cup"
  if (fractions) {
    left = "a " + first.fraction.substr(4);
  }
  return Span{second->end, left + std::string(between) + right};
}

// Whether a length or a count of pixels stands behind the number at `number`.
bool is_length(const Tokens& tokens, size_t number, size_t end, const SpokenOptions& options) {
  constexpr auto kLengths = std::to_array<std::string_view>(
      {"meter", "metre", "foot", "inch", "yard", "centimeter", "centimetre", "millimeter",
       "millimetre", "kilometer", "kilometre", "mile", "pixel", "micrometer", "nanometer"});
  return among(kLengths, unit_tail_at(tokens, number, end, true, options).words);
}

// "3 x 4", "1920x1080", "4\u00D7100 m" are measures, "2 × 3 × 4" is a product.
std::optional<Span> product_at(const Tokens& tokens, const Quantity& first,
                               const SpokenOptions& options) {
  std::vector<std::string> factors = {quantity_words(first, options.dialect)};
  size_t end = first.end;
  size_t last = first.end;
  bool letters = false;
  bool power = false;
  bool spaced = false;
  while (factors.size() < 8) {
    const size_t sign = tokens.skip_space(end);
    const bool letter = tokens.is(sign, "x") || tokens.is(sign, "X");
    if (!letter && !tokens.is(sign, "\u00D7")) {
      break;
    }
    const size_t next = tokens.skip_space(sign + 1);
    const auto factor = tokens.is_digits(next) ? quantity_at(tokens, next) : std::nullopt;
    if (!factor) {
      break;
    }
    factors.push_back(quantity_words(*factor, options.dialect));
    spaced = spaced || sign > end;
    letters = letters || letter;
    last = next;
    end = factor->end;
    // "3.0 x 10^8"
    power = power || (tokens.is(next, "10") && tokens.is(end, "^"));
  }
  if (factors.size() < 2) {
    return std::nullopt;
  }
  // "a 2\u00D74 board"
  const std::string_view thing = tokens.word_behind(end);
  const bool named = !spaced && !power && factors.size() == 2 && thing.size() > 2 &&
                     is_ascii_lower(thing[0]) && !among(WordList{"no-nouns"}, thing) &&
                     thing != "equals" &&
                     unit_tail_at(tokens, last, end, false, options).words.empty();
  // "ran the 4\u00D7400"
  constexpr auto kRelays = std::to_array<std::string_view>({"100", "200", "400", "800"});
  const bool relay = !spaced && factors.size() == 2 && first.whole == "4" &&
                     among(kRelays, tokens.text(last)) && end == last + 1 &&
                     !tokens.is(tokens.skip_space(end), "=");
  const bool measured =
      (letters && !power) || relay || named || is_length(tokens, last, end, options);
  // "1 x 400 g tin": so many of that weight.
  constexpr auto kContents = std::to_array<std::string_view>(
      {"gram", "kilogram", "milliliter", "millilitre", "liter", "litre", "ounce", "pound"});
  const Tail content = unit_tail_at(tokens, last, end, true, options);
  const bool packed = letters && factors.size() == 2 && among(kContents, content.words) &&
                      among(WordList{"measured-nouns"}, tokens.word_behind(content.end));
  Span span{end, factors[0]};
  for (size_t i = 1; i < factors.size(); ++i) {
    span.words += (packed ? " " : (measured ? " by " : " times ")) + factors[i];
  }
  return span;
}

// "1.5e-3"
std::optional<Span> exponent_at(const Tokens& tokens, const Quantity& first,
                                const SpokenOptions& options) {
  if (!tokens.is(first.end, "e") && !tokens.is(first.end, "E")) {
    return std::nullopt;
  }
  const bool minus = tokens.is(first.end + 1, "-") || tokens.is(first.end + 1, "\u2212");
  const size_t digits = first.end + (minus || tokens.is(first.end + 1, "+") ? 2 : 1);
  // "21E236" is a code.
  const bool code = digits == first.end + 1 && first.decimals.empty() && first.whole.size() > 1;
  const size_t most = code ? 2 : 3;
  if (!tokens.is_digits(digits, 1, most) || !tokens.ends_word(digits + 1)) {
    return std::nullopt;
  }
  return Span{digits + 1, quantity_words(first, options.dialect) + " times ten to the power of " +
                              (minus ? "minus " : "") +
                              cardinal_words(tokens.text(digits), options.dialect)};
}

// A number whose digits are said in other groups than an amount's: a batter's ".325", a section's
// "29 CFR 1910.95". Empty where it is none.
std::string grouped_words(const Tokens& tokens, size_t at, const Quantity& quantity,
                          EnglishDialect dialect) {
  constexpr size_t kNear = 16;  // tokens
  constexpr size_t kArms = 8;   // tokens
  const std::string& decimals = quantity.decimals;
  const bool pointed = quantity.whole.empty() && quantity.sign.empty() && decimals.size() > 1 &&
                       decimals.size() < 4 && decimals[0] != '0';
  // "a .45-cal. pistol"
  if (pointed && ((decimals.size() == 3 && is_near(WordList{"batting"}, tokens, at, kNear)) ||
                  is_near(WordList{"firearms"}, tokens, at, kArms))) {
    return pair_words(decimals, dialect);
  }
  constexpr auto kCodes = std::to_array<std::string_view>({"CFR", "USC", "\u00A7"});
  const size_t last = at > 0 && tokens.is_space(at - 1) ? at - 2 : at - 1;
  const bool section = at > 0 && (among(kCodes, tokens.text(last)) ||
                                  (last > 2 && tokens.text(last - 3, last + 1) == "F.R."));
  if (section && quantity.whole.size() == 4 && !quantity.grouped && !quantity.decimals.empty()) {
    return pair_words(quantity.whole, dialect) + " point " +
           (quantity.decimals[0] == '0' ? digit_words(quantity.decimals)
                                        : pair_words(quantity.decimals, dialect));
  }
  return {};
}

std::string plain_words(const Tokens& tokens, size_t at, const Quantity& quantity,
                        const SpokenOptions& options) {
  if (std::string words = grouped_words(tokens, at, quantity, options.dialect); !words.empty()) {
    return words;
  }
  const bool bare = quantity.end == at + 1;
  // "A320", "H264", "RTX-4090": a model, not an amount.
  const size_t before = at > 1 && tokens.is(at - 1, "-") ? at - 2 : at - 1;
  const std::string_view name = tokens.text(before);
  if (bare && at > 0 && tokens.is_word(before) && tokens.is_digits(at, 3, 4) &&
      (before + 1 == at || is_all_capitals(name) ||
       (is_title_case(name) && tokens.is_digits(at, 3, 3)))) {
    return pair_words(quantity.whole, options.dialect);
  }
  const bool seven = quantity.whole.starts_with('7') && quantity.whole.ends_with('7');
  if (bare && seven && tokens.is_digits(at, 3, 3) &&
      among(WordList{"airliners"}, tokens.word_behind(at + 1))) {
    return pair_words(quantity.whole, options.dialect);
  }
  // "the 777X", "Form 1040-EZ"
  const bool lettered = tokens.is(at + 1, "-") && is_capitalised(tokens.text(at + 2)) &&
                        (tokens.text(at + 2).size() == 1 || is_all_capitals(tokens.text(at + 2)));
  if (bare && (tokens.is_digits(at, 3, 3) || (lettered && tokens.is_digits(at, 4, 4))) &&
      (lettered || is_capitalised(tokens.text(at + 1)))) {
    return pair_words(quantity.whole, options.dialect);
  }
  // "KB5034441", "HD 209458"
  const bool catalogued = at > 1 && tokens.is_space(at - 1) &&
                          is_all_capitals(tokens.text(at - 2)) && tokens.text(at - 2).size() < 4 &&
                          !tokens.text(at).ends_with("000") &&
                          !is_counted(tokens.word_behind(at + 1));
  if (bare && at > 0 && (tokens.is_word(at - 1) || catalogued) && tokens.is_digits(at, 5, 12)) {
    return digit_words(quantity.whole);
  }
  if (bare && wants_digits(tokens, at)) {
    return digit_words(quantity.whole);
  }
  if (bare && is_year(tokens, at)) {
    return year_words(quantity.whole, options.dialect);
  }
  return quantity_words(quantity, options.dialect);
}

// "5%-10%", "20\u00B0C \u2013 25\u00B0C": what both amounts have is said once.
std::optional<Reading> range_of_amounts(const Tokens& tokens, const Quantity& first,
                                        const Tail& tail, const SpokenOptions& options) {
  const size_t spaced = tokens.skip_space(tail.end);
  const bool joined = tokens.is(tail.end, "-") && !tokens.is(first.end, "-");
  const bool dash =
      tokens.is(spaced, "\u2013") || (tail.words == "percent" && tokens.is(spaced, "-"));
  if (!joined && !dash) {
    return std::nullopt;
  }
  const size_t begin = joined ? tail.end + 1 : tokens.skip_space(spaced + 1);
  const auto second = tokens.is_digits(begin) ? quantity_at(tokens, begin) : std::nullopt;
  if (!second) {
    return std::nullopt;
  }
  const Tail both = tail_at(tokens, begin, second->end, false, options);
  const Tail plural = tail_at(tokens, begin, first.end, false, options);
  if (both.words.empty() || both.words != plural.words) {
    return std::nullopt;
  }
  return Reading{both.end, quantity_words(first, options.dialect) + " to " +
                               quantity_words(*second, options.dialect) + " " + both.words};
}

// "1. Milk", "2) Eggs", "(3) Tea" and "b) Jam" where the text begins: the number or letter, and a
// short pause.
std::optional<Reading> read_item_number(const Tokens& tokens, size_t at,
                                        const SpokenOptions& options) {
  const size_t open = at == 0 && tokens.is(at, "(") ? 1 : 0;
  const size_t end = open + 1;
  const bool letter = tokens.is_word(open) && tokens.text(open).size() == 1;
  const bool closed = tokens.is(end, ")") || (open == 0 && !letter && tokens.is(end, "."));
  if (at != 0 || !(letter || tokens.is_digits(open, 1, 3)) || !closed ||
      !tokens.is_space(end + 1) || tokens.is_end(end + 2)) {
    return std::nullopt;
  }
  const std::string_view mark = tokens.text(open);
  // "(i) milk and (ii) eggs"
  if (const auto roman = letter ? read_roman(tokens, open, options) : std::nullopt;
      roman && open > 0) {
    return Reading{end + 1, roman->words + ","};
  }
  return Reading{end + 1, (letter ? spell(mark) : cardinal_words(mark, options.dialect)) + ","};
}

// "a 5-3/4-mile run": behind a hyphen a fraction is in the singular.
std::string before_noun(std::string words, bool hyphen) {
  if (hyphen && words.ends_with("quarters")) {
    words.pop_back();
  }
  return words;
}

}  // namespace

std::optional<Reading> read_number(const Tokens& tokens, size_t at, const SpokenOptions& options) {
  if (auto item = read_item_number(tokens, at, options)) {
    return item;
  }
  const Token::Kind kind = tokens.kind(at);
  if (kind == Token::Kind::Word || kind == Token::Kind::Space) {
    return std::nullopt;
  }
  for (const Reader reader :
       {read_airliner, read_people, read_ordinal, read_plural, read_fraction, read_feet}) {
    if (auto reading = reader(tokens, at, options)) {
      return reading;
    }
  }
  auto quantity = quantity_at(tokens, at);
  const bool signed_number = quantity && !quantity->sign.empty();
  if (quantity) {
    quantity->whole = std::string(without_padding(tokens, at, quantity->whole));
  }
  if (!quantity || (signed_number && !tokens.begins_word(at))) {
    return std::nullopt;
  }
  // "½ tsp"
  if (quantity->whole.empty() && quantity->decimals.empty() && !signed_number) {
    if (auto part = read_part_of_unit(tokens, at, quantity->end, quantity->fraction, options)) {
      return part;
    }
  }
  std::optional<Span> span;
  // "x86-64" is no range.
  if (!signed_number && !(at > 0 && tokens.is_word(at - 1))) {
    span = span_at(tokens, at, *quantity, options);
  }
  span = span ? span : product_at(tokens, *quantity, options);
  span = span ? span : exponent_at(tokens, *quantity, options);
  const size_t end = span ? span->end : quantity->end;
  if (!span && end == at + 1 && wants_pairs(tokens, at) &&
      unit_tail_at(tokens, at, end, false, options).words.empty()) {
    return Reading{end, pair_words(quantity->whole, options.dialect)};
  }
  // "2x4s"
  if (span && tokens.is(at + 1, "x") && tokens.is(end, "s") && tokens.ends_word(end + 1)) {
    return Reading{end + 1, to_plural(span->words)};
  }
  // "of 18-24s": people by their ages.
  constexpr auto kOfPeople =
      std::to_array<std::string_view>({"of", "the", "The", "among", "Among", "most", "by"});
  if (span && tokens.is(end, "s") && tokens.ends_word(end + 1) && tokens.is_digits(end - 1, 2, 2) &&
      among(kOfPeople, tokens.word_before(at))) {
    return Reading{end + 1, to_plural(span->words)};
  }
  const bool singular = (!span && quantity->is_one()) || is_attribute(tokens, at, end);
  Tail tail = tail_at(tokens, at, end, singular, options);
  if (!singular && stands_before_noun(tokens, at, tail)) {
    tail = tail_at(tokens, at, end, true, options);
  }
  // "2,000+ pts. in 3 yrs."
  if (tail.words.empty() && tokens.is(end, "+") && tokens.is_space(end + 1)) {
    if (Tail more = unit_tail_at(tokens, at, end + 1, false, options); !more.words.empty()) {
      return Reading{more.end, (span ? span->words : quantity_words(*quantity, options.dialect)) +
                                   " plus " + more.words};
    }
  }
  // "9.8/10"
  constexpr auto kMarks = std::to_array<std::string_view>({"5", "10", "20", "100"});
  if (!span && !quantity->decimals.empty() && tokens.is(end, "/") &&
      among(kMarks, tokens.text(end + 1)) && tokens.ends_word(end + 2)) {
    return Reading{end + 2, quantity_words(*quantity, options.dialect) + " out of " +
                                cardinal_words(tokens.text(end + 1), options.dialect)};
  }
  if (tail.words.empty()) {
    std::string words =
        before_noun(span ? span->words : plain_words(tokens, at, *quantity, options),
                    tokens.is(end, "-") && tokens.is_word(end + 1));
    // "Radio 4's", "2024's"
    const bool possessive =
        tokens.is(end, "'") && tokens.is(end + 1, "s") && tokens.ends_word(end + 2);
    return possessive ? Reading{end + 2, words + "'s"} : Reading{end, std::move(words)};
  }
  if (!span) {
    if (auto range = range_of_amounts(tokens, *quantity, tail, options)) {
      return range;
    }
  }
  std::string words = span ? span->words : grouped_words(tokens, at, *quantity, options.dialect);
  if (words.empty()) {
    words = quantity_words(*quantity, options.dialect);
  }
  words = before_noun(std::move(words), tokens.is(end, "-"));
  return Reading{tail.end, words + (tokens.is(end, "-") ? "-" : " ") + tail.words};
}

}  // namespace mynah
