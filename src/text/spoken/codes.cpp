#include "text/spoken/codes.h"

#include <array>
#include <string>

#include "text/spoken/cardinals.h"
#include "text/spoken/characters.h"
#include "text/spoken/initials.h"
#include "text/spoken/quantity.h"
#include "text/spoken/reading.h"
#include "text/spoken/word_tables.h"

namespace mynah {
namespace {

// The word before `at`, or before a stop before it: "apt. 4B".
std::string word_before_stop(const Tokens& tokens, size_t at) {
  const size_t last = at > 0 && tokens.is_space(at - 1) ? at - 2 : at - 1;
  const bool stop = at > 2 && tokens.is(last, ".") && tokens.is_word(last - 1);
  return ascii_lower(stop ? tokens.text(last - 1) : tokens.word_before(at));
}

bool is_place(const std::string& word) {
  if (among(WordList{"places"}, word)) {
    return true;
  }
  return word.ends_with('s') &&
         among(WordList{"places"}, std::string_view(word).substr(0, word.size() - 1));
}

bool is_lettered(const Tokens& tokens, size_t at) {
  return tokens.is_digits(at, 1, 4) && tokens.is_word(at + 1) && tokens.text(at + 1).size() == 1 &&
         is_ascii_letter(tokens.text(at + 1)[0]) && tokens.ends_word(at + 2);
}

// Whether a number and a letter stand where a place is named, so that the letter is no "billion".
bool is_lettered_place(const Tokens& tokens, size_t at) {
  // "a platform 7M users love" counts them, "a line 5m below" is measured.
  const bool small = std::string_view("mshgl").find(tokens.text(at + 1)) != std::string_view::npos;
  if (is_counted(tokens.word_behind(at + 2)) ||
      (small && !is_capitalised(tokens.word_before(at)) && !tokens.word_before(at).empty())) {
    return false;
  }
  // "rooms 5B and 6B"
  const std::string_view before = tokens.word_before(at);
  const bool second = (before == "and" || before == "or" || before == "to") && at > 4 &&
                      is_lettered(tokens, at - 5) && is_place(word_before_stop(tokens, at - 5));
  return second || is_place(word_before_stop(tokens, at)) || is_street(tokens, at + 2);
}

std::optional<Reading> read_place(const Tokens& tokens, size_t at, const SpokenOptions& options) {
  if (!is_lettered(tokens, at) || !tokens.begins_word(at) || !is_lettered_place(tokens, at)) {
    return std::nullopt;
  }
  const std::string_view digits = tokens.text(at);
  const std::string number = digits.size() > 2 ? pair_words(digits, options.dialect)
                                               : cardinal_words(digits, options.dialect);
  return Reading{at + 2, join_words(number, spell(tokens.text(at + 1)))};
}

// "0x1F", "0b1010": digit by digit, as programmers say them.
std::optional<Reading> read_radix(const Tokens& tokens, size_t at) {
  constexpr size_t kMostDigits = 32;
  if (!tokens.is(at, "0") || !tokens.is_word(at + 1) || !tokens.begins_word(at)) {
    return std::nullopt;
  }
  size_t end = at + 1;
  while ((tokens.is_word(end) || tokens.is_digits(end)) && end - at < kMostDigits) {
    ++end;
  }
  const std::string_view code = tokens.text(at + 1, end);
  const char radix = ascii_lower(code[0]);
  const std::string_view known = radix == 'x' ? "0123456789abcdefABCDEF" : "01";
  if ((radix != 'x' && radix != 'b') || code.size() < 2 || code.size() > kMostDigits ||
      code.find_first_not_of(known, 1) != std::string_view::npos || !tokens.ends_word(end)) {
    return std::nullopt;
  }
  std::string words = "zero " + spell(code.substr(0, 1));
  for (size_t i = 1; i < code.size(); ++i) {
    // A breath where nobody could keep them.
    const bool breath = i > 1 && (i - 1) % 4 == 0 && code.size() > 9;
    words += breath ? ", " : " ";
    words += is_ascii_digit(code[i]) ? digit_words(code.substr(i, 1)) : spell(code.substr(i, 1));
  }
  return Reading{end, words};
}

std::optional<Reading> read_pointer(const Tokens& tokens, size_t at, const SpokenOptions& options) {
  const bool round = tokens.is(at, "(");
  if ((!round && !tokens.is(at, "[")) || !tokens.is_digits(at + 1, 1, 4)) {
    return std::nullopt;
  }
  const auto number = quantity_at(tokens, at + 1);
  const bool letter = number && tokens.is_word(number->end) && tokens.text(number->end).size() == 1;
  const size_t close = number ? number->end + (letter ? 1U : 0U) : at;
  if (!number || !tokens.is(close, round ? ")" : "]")) {
    return std::nullopt;
  }
  const std::string before = word_before_stop(tokens, at);
  // "Eqs. (3) and (4)", "Refs. [3], [4]"
  const std::string_view closer = tokens.text(close);
  const bool second =
      at > 4 && (((before == "and" || before == "to") && tokens.is(at - 4, closer)) ||
                 (tokens.is(at - 2, ",") && tokens.is(at - 3, closer)));
  if (!second && !among(WordList{"pointers"}, before)) {
    return std::nullopt;
  }
  std::string words = quantity_words(*number, options.dialect);
  return Reading{close + 1, letter ? join_words(words, spell(tokens.text(number->end))) : words};
}

// "401k", "401(k)": the American plan for pensions, as it is said.
std::optional<Reading> read_plan(const Tokens& tokens, size_t at, const SpokenOptions&) {
  const bool bracket = tokens.is(at + 1, "(") && tokens.is(at + 3, ")");
  const size_t letter = at + (bracket ? 2 : 1);
  if (!tokens.is(at, "401") || !tokens.begins_word(at) ||
      (!tokens.is(letter, "k") && !tokens.is(letter, "K"))) {
    return std::nullopt;
  }
  const size_t end = letter + (bracket ? 2 : 1);
  const bool plural = tokens.is(end, "s") && tokens.ends_word(end + 1);
  return Reading{end + (plural ? 1 : 0), "four oh one " + spell("K") + (plural ? "'s" : "")};
}

// "1080p", "720p60": lines of a picture and how it is scanned (ITU-R BT.709, BT.2020), no pence.
std::optional<Reading> read_video_mode(const Tokens& tokens, size_t at,
                                       const SpokenOptions& options) {
  constexpr auto kLines = std::to_array<std::string_view>(
      {"144", "240", "360", "480", "540", "576", "720", "1080", "1440", "2160", "4320"});
  const bool scanned = tokens.is(at + 1, "p") || tokens.is(at + 1, "i");
  if (!scanned || !among(kLines, tokens.text(at)) || !tokens.begins_word(at)) {
    return std::nullopt;
  }
  std::string words =
      join_words(pair_words(tokens.text(at), options.dialect), spell(tokens.text(at + 1)));
  const bool rate = tokens.is_digits(at + 2, 2, 3);
  if (rate) {
    words += " " + cardinal_words(tokens.text(at + 2), options.dialect);
  }
  return Reading{at + (rate ? 3 : 2), std::move(words)};
}

// "10W-30": an oil's viscosity, cold and hot (SAE J300).
std::optional<Reading> read_oil(const Tokens& tokens, size_t at, const SpokenOptions& options) {
  if (!tokens.is_digits(at, 1, 2) || !tokens.is(at + 1, "W") || !tokens.is(at + 2, "-") ||
      !tokens.is_digits(at + 3, 2, 2) || !tokens.begins_word(at) || !tokens.ends_word(at + 4)) {
    return std::nullopt;
  }
  return Reading{at + 4, cardinal_words(tokens.text(at), options.dialect) + " " + spell("W") + " " +
                             cardinal_words(tokens.text(at + 3), options.dialect)};
}

// "350F" where something is baked, boiled or warm: no grade and no seat.
std::optional<Reading> read_heat(const Tokens& tokens, size_t at, const SpokenOptions& options) {
  constexpr size_t kNear = 24;  // tokens
  const size_t sign = tokens.is(at, "-") || tokens.is(at, "\u2212") || tokens.is(at, "+") ? 1 : 0;
  if (!tokens.begins_word(at)) {
    return std::nullopt;
  }
  const auto first = tokens.is_digits(at + sign, 1, 4) ? quantity_at(tokens, at) : std::nullopt;
  if (!first) {
    return std::nullopt;
  }
  std::string words = quantity_words(*first, options.dialect);
  size_t letter = tokens.skip_space(first->end);
  if (tokens.is(first->end, "-") || tokens.is(first->end, "\u2013") || tokens.is(letter, "to")) {
    const size_t low = tokens.is(letter, "to") ? tokens.skip_space(letter + 1) : first->end + 1;
    const auto second = quantity_at(tokens, low);
    if (!second) {
      return std::nullopt;
    }
    words += " to " + quantity_words(*second, options.dialect);
    letter = tokens.skip_space(second->end);
  }
  const bool fahrenheit = tokens.is(letter, "F");
  if ((!fahrenheit && !tokens.is(letter, "C")) || !tokens.ends_word(letter + 1) ||
      is_initial(tokens, letter)) {
    return std::nullopt;
  }
  // "5 C. outside"
  const std::string_view next = tokens.word_behind(letter + 2);
  const bool stop = tokens.is(letter + 1, ".") && !next.empty() && is_ascii_lower(next[0]);
  // "98.6 F": a body's.
  const bool body = fahrenheit && !first->decimals.empty() && first->whole.size() > 1 &&
                    digits_value(first->whole.substr(0, 4)) > 94 &&
                    digits_value(first->whole.substr(0, 4)) < 107;
  // "-5 C"
  const bool frost = !fahrenheit && !first->sign.empty();
  if (body || frost) {
    return Reading{letter + (stop ? 2 : 1),
                   words + " degrees " + (fahrenheit ? "Fahrenheit" : "Celsius")};
  }
  for (size_t i = at > kNear ? at - kNear : 0; i < at + kNear && !tokens.is_end(i); ++i) {
    const bool hot = tokens.is_word(i) && among(WordList{"heat"}, ascii_lower(tokens.text(i)));
    if (hot || tokens.is(i, "\u00B0")) {
      return Reading{letter + (stop ? 2 : 1),
                     words + " degrees " + (fahrenheit ? "Fahrenheit" : "Celsius")};
    }
  }
  return std::nullopt;
}

}  // namespace

bool is_street_word(std::string_view word) {
  constexpr auto kStreets = std::to_array<std::string_view>(
      {"St", "Street", "Ave", "Avenue", "Rd", "Road", "Blvd", "Boulevard", "Lane", "Ln", "Drive",
       "Dr", "Way", "Court", "Ct", "Place", "Terrace", "Square"});
  return among(kStreets, word);
}

bool is_ordinal_ending(std::string_view word) {
  return word == "st" || word == "nd" || word == "rd" || word == "th" || word == "d";
}

bool is_street(const Tokens& tokens, size_t gap) {
  size_t word = gap + 1;
  if (!tokens.is_space(gap)) {
    return false;
  }
  if (tokens.is_digits(word, 1, 3)) {
    return is_ordinal_ending(tokens.text(word + 1)) && tokens.is_space(word + 2) &&
           is_street_word(tokens.text(word + 3));
  }
  for (int words = 0; words < 4 && tokens.is_word(word); ++words, word += 2) {
    if (!is_capitalised(tokens.text(word))) {
      return false;
    }
    if (words > 0 && is_street_word(tokens.text(word))) {
      return true;
    }
    if (!tokens.is_space(word + 1)) {
      return false;
    }
  }
  return false;
}

bool is_behind_street_name(const Tokens& tokens, size_t at) {
  // "1980 Mount St. Helens", "the 12 Professor Dr. Lee"
  constexpr auto kNoStreets = std::to_array<std::string_view>(
      {"Mount", "Mt", "Lake", "Fort", "Port", "Cape", "East", "West", "North", "South", "Old",
       "Professor", "Prof", "Herr", "Frau", "Saint", "Ask", "By"});
  if (among(kNoStreets, tokens.word_before(at))) {
    return false;
  }
  size_t word = at;
  for (int words = 0; words < 4 && word >= 2 && tokens.is_space(word - 1); ++words) {
    word -= 2;
    word -= tokens.is(word, ".") && word > 0 ? 1 : 0;  // "12 W. Main St."
    if (tokens.is_digits(word, 1, 5)) {
      // "No. 2 Ohio St."
      const bool rank = word > 2 && tokens.text(word - 3, word) == "No. ";
      return words > 0 && tokens.begins_word(word) && !rank;
    }
    if (!is_capitalised(tokens.text(word))) {
      return false;
    }
  }
  return false;
}

bool wants_pairs(const Tokens& tokens, size_t at) {
  const size_t last = at > 0 && tokens.is_space(at - 1) ? at - 2 : at - 1;
  // "Visual Studio 2005"
  const bool year = tokens.text(at).starts_with("200") && tokens.text(at).size() == 4;
  // "a 404 error"
  constexpr size_t kNear = 8;  // tokens
  const bool status = tokens.is_digits(at, 3, 3) &&
                      (tokens.text(at).starts_with('4') || tokens.text(at).starts_with("50")) &&
                      tokens.text(at)[1] != '9' && !is_counted(tokens.word_behind(at + 1)) &&
                      is_near(WordList{"servers"}, tokens, at, kNear);
  if (status && !tokens.text(at).ends_with("00")) {
    return true;
  }
  // "US 101", "U.S. 395": a highway, but "the US 500 firms".
  const bool highway =
      tokens.is_digits(at, 3, 3) && at > 1 && tokens.is_space(at - 1) &&
      (tokens.is(at - 2, "US") || (at > 4 && tokens.text(at - 5, at - 1) == "U.S.")) &&
      !is_counted(tokens.word_behind(at + 1));
  if (highway) {
    return true;
  }
  return tokens.is_digits(at, 3, 4) && !year &&
         ((at > 0 && tokens.is(last, "\u00A7")) ||
          among(WordList{"paired"}, word_before_stop(tokens, at)) || is_street(tokens, at + 1));
}

namespace {

// Whether something before the digits says that they are a name to be read one by one.
bool is_read_by_digits(const Tokens& tokens, size_t at) {
  constexpr auto kBefore =
      std::to_array<std::string_view>({"call", "dial", "called", "dialed", "calling", "dialled",
                                       "text", "code", "pin", "id", "zip"});
  const std::string_view before = tokens.word_before(at);
  // "Beverly Hills, CA 90210"
  const bool zip = tokens.is_digits(at, 5, 5) && (before.size() == 2 || before == "NYC") &&
                   is_ascii_upper(before[0]) && is_ascii_upper(before[1]);
  // "Washington, D.C. 20500"
  const bool capital = tokens.is_digits(at, 5, 5) && at > 4 && tokens.is_space(at - 1) &&
                       tokens.text(at - 5, at - 1) == "D.C.";
  // "Text HELP to 88202"
  constexpr size_t kNear = 10;  // tokens
  bool texted = false;
  for (size_t i = at > kNear ? at - kNear : 0; i < at && before == "to"; ++i) {
    texted = texted || tokens.is(i, "Text") || tokens.is(i, "text") || tokens.is(i, "SMS");
  }
  // "account no. 12345678"
  const bool account =
      tokens.is_digits(at, 6, 12) && among(WordList{"accounts"}, word_before_stop(tokens, at));
  return zip || capital || account || (texted && tokens.is_digits(at, 5, 6)) ||
         (tokens.is_digits(at, 3, 12) && among(kBefore, ascii_lower(before)));
}

}  // namespace

bool wants_digits(const Tokens& tokens, size_t at) {
  // "Call 999, 112 or 911": the later ones as the first.
  constexpr int kMost = 6;
  for (int i = 0; i < kMost && tokens.is_digits(at); ++i) {
    if (is_read_by_digits(tokens, at)) {
      return true;
    }
    const std::string_view before = tokens.word_before(at);
    const bool joined = at > 3 && (before == "or" || before == "and") && tokens.is_space(at - 3);
    const bool listed = at > 2 && tokens.is_space(at - 1) && tokens.is(at - 2, ",");
    if (!(joined || listed) || !tokens.is_digits(at, 3, 6)) {
      return false;
    }
    at -= joined ? 4 : 3;
  }
  return false;
}

std::optional<Reading> read_code(const Tokens& tokens, size_t at, const SpokenOptions& options) {
  for (const Reader reader :
       {read_plan, read_name_in_parts, read_place, read_compass, read_coordinate, read_video_mode,
        read_heat, read_oil, read_letter_plural, read_pointer, read_compound_unit}) {
    if (auto reading = reader(tokens, at, options)) {
      return reading;
    }
  }
  return read_radix(tokens, at);
}

}  // namespace mynah
