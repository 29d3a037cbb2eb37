// Times of the day, and the ratios that look like them.
#include <algorithm>
#include <array>
#include <string>

#include "base/ascii.h"
#include "text/spoken/cardinals.h"
#include "text/spoken/quantity.h"
#include "text/spoken/reading.h"
#include "text/spoken/word_tables.h"

namespace mynah {
namespace {

// "12:00 noon", "10am-noon".
constexpr auto kNamedTimes = std::to_array<std::string_view>({"noon", "midnight"});

// "am", "p.m.", "PM" at a token or behind a space.
struct HalfDay {
  size_t end = 0;
  std::string words;
};

std::optional<HalfDay> half_day_at(const Tokens& tokens, size_t at) {
  const size_t word = tokens.skip_space(at);
  const std::string lower = ascii_lower(tokens.text(word));
  if (lower == "am" || lower == "pm") {
    return tokens.ends_word(word + 1)
               ? std::optional(HalfDay{word + 1, spell(lower == "am" ? "AM" : "PM")})
               : std::nullopt;
  }
  if ((lower == "a" || lower == "p") && tokens.is(word + 1, ".") &&
      ascii_lower(tokens.text(word + 2)) == "m" && tokens.ends_word(word + 3)) {
    size_t end = word + 3;
    if (tokens.is(end, ".") && !tokens.ends_text(end + 1)) {
      ++end;
    }
    return HalfDay{end, spell(lower == "a" ? "AM" : "PM")};
  }
  return std::nullopt;
}

bool is_ratio(const Tokens& tokens, size_t at) {
  constexpr auto kWords =
      std::to_array<std::string_view>({"ratio", "scale", "odds", "aspect", "ratios", "mix"});
  const std::string_view before = tokens.word_before(at);
  const std::string_view earlier =
      before == "of" || before == "is" ? tokens.word_before(at - 2) : before;
  return std::ranges::find(kWords, earlier) != kWords.end();
}

std::string minutes_words(std::string_view minutes, EnglishDialect dialect) {
  const std::string words = cardinal_words(minutes, dialect);
  return minutes[0] == '0' ? "oh " + words : words;
}

// "08:00 hrs", "14:30 hours", "0800 hrs": hours as timetables and armies say them. `end` is one
// past the minutes; nothing where no hours stand behind them.
std::optional<Reading> hours_words(const Tokens& tokens, std::string_view hours,
                                   std::string_view minutes, size_t end, EnglishDialect dialect) {
  constexpr auto kHours = std::to_array<std::string_view>({"hrs", "hours"});
  const size_t word = tokens.skip_space(end);
  if (!among(kHours, tokens.text(word)) || !tokens.ends_word(word + 1)) {
    return std::nullopt;
  }
  std::string words = hours[0] == '0' && hours != "00" ? "oh " : "";
  words += cardinal_words(hours, dialect) + " ";
  words += minutes == "00" ? "hundred" : minutes_words(minutes, dialect);
  // "08:00 hrs. on Monday": the stop is not the sentence's.
  const bool stop = tokens.is(word + 1, ".") && !tokens.word_behind(word + 2).empty() &&
                    is_ascii_lower(tokens.word_behind(word + 2)[0]);
  return Reading{word + (stop ? 2 : 1), words + " hours"};
}

// "0800 hrs", "at 1400 hrs": with its first zero, or behind such a word, it is no amount.
std::optional<Reading> read_joined_hours(const Tokens& tokens, size_t at, EnglishDialect dialect) {
  constexpr auto kBefore =
      std::to_array<std::string_view>({"at", "At", "by", "By", "until", "Until", "till"});
  const std::string_view digits = tokens.text(at);
  const bool served = digits[0] == '0' && among(WordList{"services"}, tokens.word_behind(at + 1));
  if (!tokens.is_digits(at, 4, 4) || digits_value(digits) > 2359 ||
      digits_value(digits.substr(2)) > 59 ||
      (digits[0] != '0' && !among(kBefore, tokens.word_before(at)))) {
    return std::nullopt;
  }
  // "at 0630"
  if (digits[0] == '0' && (served || among(kBefore, tokens.word_before(at))) &&
      tokens.text(tokens.skip_space(at + 1)) != "hrs" && tokens.word_behind(at + 1) != "hours") {
    return Reading{at + 1, "oh " + cardinal_words(digits.substr(1, 1), dialect) + " " +
                               (digits.ends_with("00") ? "hundred"
                                                       : minutes_words(digits.substr(2), dialect))};
  }
  return hours_words(tokens, digits.substr(0, 2), digits.substr(2), at + 1, dialect);
}

// "ISO 9001:2015": a standard and its year.
std::optional<Reading> read_standard(const Tokens& tokens, size_t at, EnglishDialect dialect) {
  constexpr auto kBodies = std::to_array<std::string_view>(
      {"ISO", "IEC", "EN", "BS", "DIN", "ANSI", "IEEE", "ASTM", "JIS", "NF", "ASME"});
  const unsigned year = tokens.is_digits(at + 2, 4, 4) ? digits_value(tokens.text(at + 2)) : 0;
  if (!tokens.is_digits(at, 1, 6) || !tokens.is(at + 1, ":") || year < 1900 || year > 2099 ||
      !tokens.ends_word(at + 3) || !among(kBodies, tokens.word_before(at))) {
    return std::nullopt;
  }
  return Reading{at + 3, cardinal_words(tokens.text(at), dialect) + ", " +
                             year_words(tokens.text(at + 2), dialect)};
}

// Whether something that takes time stands shortly before `at`: "Her marathon took 2:14:04".
bool is_behind_duration(const Tokens& tokens, size_t at) {
  constexpr size_t kNear = 10;  // tokens
  for (size_t i = at > kNear ? at - kNear : 0; i < at; ++i) {
    // "a time of 1:59:40"
    constexpr auto kTimes = std::to_array<std::string_view>({"time", "record", "best"});
    constexpr auto kVerbs = std::to_array<std::string_view>({"of", "was", "is"});
    const bool timed = among(kTimes, tokens.text(i)) && among(kVerbs, tokens.word_behind(i + 1));
    if (timed || (tokens.is_word(i) && among(WordList{"durations"}, ascii_lower(tokens.text(i))))) {
      return true;
    }
  }
  return false;
}

std::string count_words(std::string_view digits, std::string_view unit, EnglishDialect dialect) {
  const std::string words = cardinal_words(digits, dialect);
  return words + " " + std::string(unit) + (words == "one" ? "" : "s");
}

// "2:14:04" where it is how long something took.
std::string duration_words(const Tokens& tokens, size_t at, std::string_view fraction,
                           EnglishDialect dialect) {
  std::string words = count_words(tokens.text(at), "hour", dialect);
  if (tokens.text(at + 2) != "00") {
    words += " " + count_words(tokens.text(at + 2), "minute", dialect);
  }
  if (!fraction.empty()) {
    return words + " and " + cardinal_words(tokens.text(at + 4), dialect) + " point " +
           digit_words(fraction) + " seconds";
  }
  return words + " and " + count_words(tokens.text(at + 4), "second", dialect);
}

// "2h 45m", "1h30", "3m20s": the letters are hours, minutes and seconds where two of them stand so.
std::optional<Reading> read_short_duration(const Tokens& tokens, size_t at,
                                           EnglishDialect dialect) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kUnits = {
      {{"d", "day"},
       {"h", "hour"},
       {"hr", "hour"},
       {"hrs", "hour"},
       {"m", "minute"},
       {"min", "minute"},
       {"mins", "minute"},
       {"s", "second"},
       {"sec", "second"},
       {"secs", "second"}}};
  std::string words;
  std::string_view last;
  size_t end = at;
  int parts = 0;
  for (; parts < 4; ++parts) {
    const size_t number = parts == 0 ? at : tokens.skip_space(end);
    // "1m 12.345s"
    const size_t point = number + 1;
    if (parts > 0 && tokens.is(point, ".") && tokens.is_digits(point + 1) &&
        tokens.is(point + 2, "s") && tokens.is_digits(number, 1, 2)) {
      words += " " + cardinal_words(tokens.text(number), dialect) + " point " +
               digit_words(tokens.text(point + 1)) + " seconds";
      end = point + 3;
      ++parts;
      break;
    }
    const auto* const unit =
        std::ranges::find(kUnits, tokens.text(number + 1), [](const auto& u) { return u.first; });
    const bool bare = last == "hour" && number == end && tokens.is_digits(number, 2, 2) &&
                      tokens.ends_word(number + 1);
    if (!tokens.is_digits(number, 1, 3) || (unit == kUnits.end() && !bare) ||
        (!bare && unit->second == last)) {
      break;
    }
    last = bare ? "minute" : unit->second;
    // "14h00"
    const bool even = bare && tokens.text(number) == "00" && parts == 1;
    words = even ? cardinal_words(tokens.text(at), dialect) + " hundred hours"
                 : join_words(words, count_words(tokens.text(number), last, dialect));
    end = number + (bare ? 1 : 2);
  }
  return parts > 1 && tokens.ends_word(end) ? std::optional(Reading{end, std::move(words)})
                                            : std::nullopt;
}

// A time with minutes: "7:30", "7.30 pm", "19:45:10".
std::optional<Reading> read_clock(const Tokens& tokens, size_t at, EnglishDialect dialect) {
  const bool colon = tokens.is(at + 1, ":");
  if (!tokens.is_digits(at, 1, 2) || !tokens.is_digits(at + 2, 2, 2) ||
      !(colon || tokens.is(at + 1, "."))) {
    return std::nullopt;
  }
  const std::string_view minutes = tokens.text(at + 2);
  const unsigned hour = digits_value(tokens.text(at));
  if (hour > 24 || digits_value(minutes) > 59) {
    return std::nullopt;
  }
  size_t end = at + 3;
  std::string seconds;
  std::string_view fraction;
  if (colon && tokens.is(end, ":") && tokens.is_digits(end + 1, 2, 2)) {
    const std::string_view digits = tokens.text(end + 1);
    seconds = digits == "00" ? ""
                             : " and " + cardinal_words(digits, dialect) +
                                   (digits == "01" ? " second" : " seconds");
    end += 2;
    // Tenths are those of what was timed; thousandths of a clock are not said.
    if (tokens.is(end, ".") && tokens.is_digits(end + 1)) {
      fraction = tokens.text(end + 1);
      end += 2;
    }
  }
  const auto half = half_day_at(tokens, end);
  if (!seconds.empty() && !half &&
      (is_behind_duration(tokens, at) || tokens.word_behind(end) == "long" ||
       fraction.size() == 1 || fraction.size() == 2)) {
    return Reading{end, duration_words(tokens, at, fraction, dialect)};
  }
  // "the 17.45 bus"
  const bool served = among(WordList{"services"}, tokens.word_behind(end));
  if ((!colon && !half && !served) || tokens.is(end, ":") ||
      (!half && tokens.is_word(end) && !tokens.is(end, "Z"))) {
    return std::nullopt;
  }
  if (colon && seconds.empty() && !half) {
    if (auto hours = hours_words(tokens, tokens.text(at), minutes, end, dialect)) {
      return hours;
    }
  }
  const std::string hours = cardinal_words(tokens.text(at), dialect);
  std::string words = hours;
  if (minutes != "00") {
    words += " " + minutes_words(minutes, dialect) + seconds;
  } else if (!seconds.empty()) {
    words += " hours" + seconds;
  } else if (!half && hour == 0) {
    words = "midnight";
  } else if (!half && !among(kNamedTimes, tokens.word_behind(end))) {
    words += hour <= 12 ? " o'clock" : " hundred";
  }
  if (half) {
    return Reading{half->end, words + " " + half->words};
  }
  if (tokens.is(end, "Z") && tokens.ends_word(end + 1)) {
    return Reading{end + 1, words + " " + spell("UTC")};
  }
  return Reading{end, words};
}

// "0.75:1", "1:2.5", "1,000,000:1"
std::optional<Reading> read_decimal_ratio(const Tokens& tokens, size_t at, EnglishDialect dialect) {
  const auto first = quantity_at(tokens, at);
  const auto second = first && tokens.is(first->end, ":") && tokens.is_digits(first->end + 1)
                          ? quantity_at(tokens, first->end + 1)
                          : std::nullopt;
  if (!second || (first->decimals.empty() && second->decimals.empty() && !first->grouped) ||
      !tokens.ends_word(second->end) || tokens.is(second->end, ":")) {
    return std::nullopt;
  }
  return Reading{second->end,
                 quantity_words(*first, dialect) + " to " + quantity_words(*second, dialect)};
}

std::optional<Reading> read_ratio(const Tokens& tokens, size_t at, EnglishDialect dialect) {
  if (!tokens.is_digits(at, 1, 4) || !tokens.is(at + 1, ":") || !tokens.is_digits(at + 2, 1, 6) ||
      tokens.is(at + 3, ":") || !tokens.ends_word(at + 3)) {
    return std::nullopt;
  }
  const std::string first = cardinal_words(tokens.text(at), dialect);
  const std::string_view parts = tokens.text(at + 2);
  const std::string second = cardinal_words(parts, dialect);
  // "a 10K in 39:12": minutes and seconds.
  if (tokens.is_digits(at, 2, 3) && parts.size() == 2 && digits_value(parts) < 60 &&
      is_behind_duration(tokens, at)) {
    return Reading{at + 3,
                   first + (parts == "00" ? " minutes" : " " + minutes_words(parts, dialect))};
  }
  // Two shares of a hundred: "a 50:50 split".
  const bool shares = tokens.is_digits(at, 2, 2) && tokens.is_digits(at + 2, 2, 2) &&
                      digits_value(tokens.text(at)) + digits_value(tokens.text(at + 2)) == 100;
  return Reading{at + 3, first + (shares ? " " : " to ") + second};
}

// "7am", "7 p.m."
std::optional<Reading> read_hour(const Tokens& tokens, size_t at, EnglishDialect dialect) {
  if (!tokens.is_digits(at, 1, 2) || digits_value(tokens.text(at)) > 12) {
    return std::nullopt;
  }
  const auto half = half_day_at(tokens, at + 1);
  return half ? std::optional(Reading{half->end,
                                      cardinal_words(tokens.text(at), dialect) + " " + half->words})
              : std::nullopt;
}

std::optional<Reading> read_moment(const Tokens& tokens, size_t at, EnglishDialect dialect) {
  auto clock = read_clock(tokens, at, dialect);
  return clock ? clock : read_hour(tokens, at, dialect);
}

// One past the dash of a range, or `at`.
size_t behind_dash(const Tokens& tokens, size_t at) {
  if (tokens.is(at, "-")) {
    return at + 1;
  }
  const size_t dash = tokens.skip_space(at);
  return tokens.is(dash, "\u2013") ? tokens.skip_space(dash + 1) : at;
}

// "9am-5pm", "9:00\u201317:00", "7-9 pm".
std::optional<Reading> read_times(const Tokens& tokens, size_t at, EnglishDialect dialect) {
  auto first = read_moment(tokens, at, dialect);
  const size_t end = first ? first->end : at + 1;
  const size_t next = behind_dash(tokens, end);
  if (next == end) {
    return first;
  }
  if (first && among(kNamedTimes, tokens.text(next))) {
    return Reading{next + 1, first->words + " to " + std::string(tokens.text(next))};
  }
  // "10\u201310:50 a.m."
  const bool clock = first || (tokens.is_digits(at, 1, 2) && digits_value(tokens.text(at)) <= 24 &&
                               tokens.is(next + 1, ":") && tokens.is_digits(next + 2, 2, 2));
  const auto second = clock ? read_moment(tokens, next, dialect) : read_hour(tokens, next, dialect);
  if (!second || (!first && !tokens.is_digits(at, 1, 2))) {
    return first;
  }
  const std::string words = first ? first->words : cardinal_words(tokens.text(at), dialect);
  return Reading{second->end, words + " to " + second->words};
}

}  // namespace

std::optional<Reading> read_time(const Tokens& tokens, size_t at, const SpokenOptions& options) {
  if (auto standard = read_standard(tokens, at, options.dialect)) {
    return standard;
  }
  if (!tokens.is_digits(at, 1, 4) || !tokens.begins_word(at)) {
    // "2024-03-01T12:00": the T was taken with the date.
    if (at == 0 || !tokens.is(at - 1, "T") || !tokens.is_digits(at, 2, 2)) {
      return std::nullopt;
    }
  }
  if (auto duration = read_short_duration(tokens, at, options.dialect)) {
    return duration;
  }
  if (!is_ratio(tokens, at)) {
    if (auto times = read_times(tokens, at, options.dialect)) {
      return times;
    }
    if (auto hours = read_joined_hours(tokens, at, options.dialect)) {
      return hours;
    }
  }
  auto ratio = read_ratio(tokens, at, options.dialect);
  return ratio ? ratio : read_decimal_ratio(tokens, at, options.dialect);
}

}  // namespace mynah
