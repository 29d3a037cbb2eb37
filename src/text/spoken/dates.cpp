// Dates: ISO 8601's, with strokes, stops or hyphens, and with the month's name.
#include <algorithm>
#include <array>
#include <string>

#include "base/ascii.h"
#include "text/spoken/calendar.h"
#include "text/spoken/cardinals.h"
#include "text/spoken/reading.h"
#include "text/spoken/word_tables.h"

namespace mynah {
namespace {

struct Date {
  size_t end = 0;
  unsigned year = 0;  // 0: none is given
  unsigned month = 0;
  unsigned day = 0;
};

bool is_valid(const Date& date) {
  constexpr std::array<unsigned, 13> kDays = {0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return date.month >= 1 && date.month <= 12 && date.day >= 1 && date.day <= kDays[date.month];
}

std::string year_of(unsigned year, EnglishDialect dialect) {
  return year_words(std::to_string(year), dialect);
}

std::string day_of(unsigned day, EnglishDialect dialect) {
  return ordinal_words(std::to_string(day), dialect);
}

std::string date_words(const Date& date, EnglishDialect dialect) {
  const std::string month(kMonths[date.month - 1]);
  const std::string day = day_of(date.day, dialect);
  std::string words =
      dialect == EnglishDialect::British ? "the " + day + " of " + month : month + " " + day;
  return date.year == 0 ? words : words + ", " + year_of(date.year, dialect);
}

unsigned value_at(const Tokens& tokens, size_t at) {
  return digits_value(tokens.text(at));
}

// "24" is 2024, "70" 1970 (POSIX, strptime's %y, has 69 for 70).
unsigned full_year(unsigned two_digits) {
  return two_digits + (two_digits < 70 ? 2000U : 1900U);
}

// The month that a word names, with the stop of a short form; 0: none.
struct Month {
  size_t end = 0;
  unsigned number = 0;
  bool short_form = false;
};

Month month_at(const Tokens& tokens, size_t at) {
  const std::string_view word = tokens.text(at);
  if (word.size() < 3 || !tokens.is_word(at)) {
    return {};
  }
  for (size_t i = 0; i < kMonths.size(); ++i) {
    const bool all =
        word == kMonths[i] || (word.size() > 3 && ascii_lower(word) == ascii_lower(kMonths[i]));
    const bool cut = word == kMonths[i].substr(0, 3) || (i == 8 && word == "Sept");
    if (all || cut) {
      const bool stop = cut && tokens.is(at + 1, ".");
      return {
          .end = at + (stop ? 2U : 1U), .number = static_cast<unsigned>(i) + 1, .short_form = !all};
    }
  }
  return {};
}

// "2024-03-01", "2024/3/1".
std::optional<Date> year_first(const Tokens& tokens, size_t at) {
  const std::string_view separator = tokens.text(at + 1);
  if (!tokens.is_digits(at, 4, 4) || !(separator == "-" || separator == "/" || separator == ".") ||
      !tokens.is(at + 3, separator) || !tokens.is_digits(at + 2, 1, 2) ||
      !tokens.is_digits(at + 4, 1, 2)) {
    return std::nullopt;
  }
  return Date{.end = at + 5,
              .year = value_at(tokens, at),
              .month = value_at(tokens, at + 2),
              .day = value_at(tokens, at + 4)};
}

// "3/1/2024", "01.02.2024", "3-1-2024", "3/1/24".
std::optional<Date> year_last(const Tokens& tokens, size_t at, EnglishDialect dialect) {
  const std::string_view separator = tokens.text(at + 1);
  if (!tokens.is_digits(at, 1, 2) || !(separator == "-" || separator == "/" || separator == ".") ||
      !tokens.is(at + 3, separator) || !tokens.is_digits(at + 2, 1, 2)) {
    return std::nullopt;
  }
  Date date{
      .end = at + 5, .year = 0, .month = value_at(tokens, at), .day = value_at(tokens, at + 2)};
  if (tokens.is_digits(at + 4, 4, 4)) {
    date.year = value_at(tokens, at + 4);
  } else if (separator == "/" && tokens.is_digits(at + 4, 2, 2)) {
    date.year = full_year(value_at(tokens, at + 4));
  } else {
    return std::nullopt;
  }
  // With stops the day comes first everywhere; with strokes that is Britain's order.
  if (separator == "." || dialect == EnglishDialect::British || date.month > 12) {
    std::swap(date.month, date.day);
  }
  if (!is_valid(date)) {
    std::swap(date.month, date.day);
  }
  return date;
}

// ", 2024" or " 2024" behind a day, which is no more than a year.
size_t year_behind(const Tokens& tokens, size_t at, unsigned& year) {
  const size_t comma = tokens.is(at, ",") ? at + 1 : at;
  if (!tokens.is_space(comma) || !tokens.is_digits(comma + 1, 4, 4) ||
      !tokens.ends_word(comma + 2) || tokens.is(comma + 2, ":")) {
    return at;
  }
  const unsigned value = value_at(tokens, comma + 1);
  if (value < 1000 || value > 2200) {
    return at;
  }
  year = value;
  return comma + 2;
}

// One past "3", "3rd"; `at` itself where no day is there.
size_t day_end(const Tokens& tokens, size_t at) {
  if (!tokens.is_digits(at, 1, 2) || value_at(tokens, at) > 31 || value_at(tokens, at) == 0) {
    return at;
  }
  const std::string_view suffix = tokens.text(at + 1);
  const bool ordinal = suffix == "st" || suffix == "nd" || suffix == "rd" || suffix == "th";
  const size_t end = ordinal ? at + 2 : at + 1;
  const bool more = tokens.is_word(end) || tokens.is(end, ":") || tokens.is(end, "%") ||
                    tokens.is(end, "/") || (tokens.is(end, ".") && tokens.is_digits(end + 1)) ||
                    (tokens.is(end, ",") && tokens.is_digits(end + 1));
  return more ? at : end;
}

// "March 3", "Mar. 3rd, 2024", "May 5-7", "March 2024".
std::optional<Reading> month_first(const Tokens& tokens, size_t at, EnglishDialect dialect) {
  const Month month = month_at(tokens, at);
  if (month.number == 0 || !tokens.is_space(month.end)) {
    return std::nullopt;
  }
  const std::string name(kMonths[month.number - 1]);
  size_t end = day_end(tokens, month.end + 1);
  if (end == month.end + 1) {
    unsigned year = 0;
    end = year_behind(tokens, month.end, year);
    return end == month.end ? std::nullopt
                            : std::optional(Reading{end, name + " " + year_of(year, dialect)});
  }
  const std::string the = dialect == EnglishDialect::British ? " the " : " ";
  std::string words = name + the + day_of(value_at(tokens, month.end + 1), dialect);
  if (tokens.is(end, "-") || tokens.is(end, "\u2013")) {
    if (const size_t last = day_end(tokens, end + 1); last > end + 1) {
      words += " to" + the + day_of(value_at(tokens, end + 1), dialect);
      end = last;
    }
  }
  unsigned year = 0;
  end = year_behind(tokens, end, year);
  return Reading{end, year == 0 ? words : words + ", " + year_of(year, dialect)};
}

// "1 Jan 2020", "the 3rd of March", "5th November".
std::optional<Reading> day_first(const Tokens& tokens, size_t at, EnglishDialect dialect) {
  size_t end = day_end(tokens, at);
  if (end == at || !tokens.is_space(end)) {
    return std::nullopt;
  }
  const size_t word = tokens.is(end + 1, "of") && tokens.is_space(end + 2) ? end + 3 : end + 1;
  const Month month = month_at(tokens, word);
  // "5 may go" is no date.
  if (month.number == 0 || tokens.text(word) == "may") {
    return std::nullopt;
  }
  const std::string_view before = tokens.word_before(at);
  std::string words = before == "the" || before == "The" ? "" : "the ";
  words += day_of(value_at(tokens, at), dialect) + " of " + std::string(kMonths[month.number - 1]);
  unsigned year = 0;
  end = year_behind(tokens, month.end, year);
  // The stop of "5 Jan." ends the sentence where nothing follows.
  if (year == 0 && month.end > word + 1 && tokens.ends_text(month.end)) {
    end = word + 1;
  }
  return Reading{end, year == 0 ? words : words + ", " + year_of(year, dialect)};
}

// "02-Jan-2024", "2/Jan/24", as programs write them.
std::optional<Reading> named_between(const Tokens& tokens, size_t at, EnglishDialect dialect) {
  const std::string_view separator = tokens.text(at + 1);
  const Month month = month_at(tokens, at + 2);
  if (!tokens.is_digits(at, 1, 2) || !(separator == "-" || separator == "/") || month.number == 0 ||
      !tokens.is(month.end, separator) || !tokens.ends_word(month.end + 2) ||
      tokens.is(month.end + 2, separator)) {
    return std::nullopt;
  }
  Date date{.end = month.end + 2, .year = 0, .month = month.number, .day = value_at(tokens, at)};
  if (tokens.is_digits(month.end + 1, 4, 4)) {
    date.year = value_at(tokens, month.end + 1);
  } else if (tokens.is_digits(month.end + 1, 2, 2)) {
    date.year = full_year(value_at(tokens, month.end + 1));
  }
  if (date.year == 0 || !is_valid(date)) {
    return std::nullopt;
  }
  return Reading{date.end, "the " + day_of(date.day, dialect) + " of " +
                               std::string(kMonths[date.month - 1]) + ", " +
                               year_of(date.year, dialect)};
}

// "on 9/3", "starts 6/14": a month and a day where a word before says so.
std::optional<Reading> month_and_day(const Tokens& tokens, size_t at, EnglishDialect dialect) {
  constexpr auto kOther =
      std::to_array<std::string_view>({"9/11", "7/7", "24/7", "50/50", "20/20", "1/2", "1/6"});
  constexpr auto kParts = std::to_array<std::string_view>(
      {"of", "inch", "inches", "mile", "miles", "cup", "cups", "majority", "time"});
  constexpr auto kOfAmounts = std::to_array<std::string_view>(
      {"by", "since", "until", "till", "before", "after", "through", "from"});
  if (!tokens.is_digits(at, 1, 2) || !tokens.is(at + 1, "/") || !tokens.is_digits(at + 2, 1, 2) ||
      tokens.is(at + 3, "/") || !tokens.ends_word(at + 3) || tokens.is(at + 3, "%") ||
      among(kOther, tokens.text(at, at + 3)) || among(kParts, tokens.word_behind(at + 3))) {
    return std::nullopt;
  }
  const std::string before = ascii_lower(tokens.word_before(at));
  // "6/1\u20136/15"
  const size_t dash = at + 3;
  const bool range = (tokens.is(dash, "-") || tokens.is(dash, "\u2013")) &&
                     tokens.is_digits(dash + 1, 1, 2) && tokens.is(dash + 2, "/") &&
                     tokens.is_digits(dash + 3, 1, 2) && tokens.ends_word(dash + 4);
  const bool second =
      at > 3 && (tokens.is(at - 1, "-") || tokens.is(at - 1, "\u2013")) && tokens.is(at - 3, "/");
  // "8/15 is the deadline": no fraction that anybody uses.
  constexpr auto kVerbs =
      std::to_array<std::string_view>({"is", "was", "will", "works", "deadline"});
  const bool deadline = tokens.is_digits(at + 2, 2, 2) && value_at(tokens, at + 2) > 10 &&
                        value_at(tokens, at + 2) != 12 && value_at(tokens, at + 2) != 16 &&
                        among(kVerbs, tokens.word_behind(at + 3));
  // "the 12/25 sale"
  const std::string_view article = tokens.word_before(at);
  const bool named = (article == "the" || article == "The") && value_at(tokens, at + 2) > 12 &&
                     value_at(tokens, at + 2) != 16 && value_at(tokens, at + 2) != 20 &&
                     value_at(tokens, at) <= 12 && !tokens.word_behind(at + 3).empty() &&
                     is_ascii_lower(tokens.word_behind(at + 3)[0]);
  // "the 5/10 deadline"
  const bool dated = (article == "the" || article == "The") &&
                     among(WordList{"dated-nouns"}, tokens.word_behind(at + 3));
  const bool day_before =
      range || deadline || named || dated || second || !day_name(tokens.word_before(at)).empty();
  Date date{
      .end = at + 3, .year = 0, .month = value_at(tokens, at), .day = value_at(tokens, at + 2)};
  const bool fraction = date.month < date.day && date.day < 9;  // "by 3/4"
  if (!(day_before || among(WordList{"date-prepositions"}, before)) ||
      (among(kOfAmounts, before) && fraction)) {
    return std::nullopt;
  }
  if (dialect == EnglishDialect::British || date.month > 12) {
    std::swap(date.month, date.day);
  }
  if (!is_valid(date)) {
    std::swap(date.month, date.day);
  }
  return is_valid(date) ? std::optional(Reading{date.end, date_words(date, dialect)})
                        : std::nullopt;
}

// "11/2022": a month and its year.
std::optional<Reading> month_and_year(const Tokens& tokens, size_t at, EnglishDialect dialect) {
  const unsigned month = tokens.is_digits(at, 1, 2) ? value_at(tokens, at) : 0;
  const unsigned year =
      tokens.is(at + 1, "/") && tokens.is_digits(at + 2, 4, 4) ? value_at(tokens, at + 2) : 0;
  if (month < 1 || month > 12 || year < 1900 || year > 2099 || tokens.is(at + 3, "/") ||
      !tokens.ends_word(at + 3) || (at > 0 && tokens.is(at - 1, "/"))) {
    return std::nullopt;
  }
  return Reading{at + 3, std::string(kMonths[month - 1]) + " " + year_of(year, dialect)};
}

// "4-6 July", "30th\u201331st of May": days of one month.
std::optional<Reading> days_first(const Tokens& tokens, size_t at, EnglishDialect dialect) {
  const size_t dash = day_end(tokens, at);
  const size_t second = dash + 1;
  if (dash == at || !(tokens.is(dash, "-") || tokens.is(dash, "\u2013"))) {
    return std::nullopt;
  }
  auto last = day_first(tokens, second, dialect);
  if (!last || value_at(tokens, at) >= value_at(tokens, second)) {
    return std::nullopt;
  }
  const std::string_view before = tokens.word_before(at);
  const std::string the = before == "the" || before == "The" ? "" : "the ";
  return Reading{last->end, the + day_of(value_at(tokens, at), dialect) + " to " + last->words};
}

std::optional<Reading> date_at(const Tokens& tokens, size_t at, const SpokenOptions& options) {
  if (tokens.is_word(at)) {
    return month_first(tokens, at, options.dialect);
  }
  if (!tokens.is_digits(at, 1, 4)) {
    return std::nullopt;
  }
  if (auto named = named_between(tokens, at, options.dialect)) {
    return named;
  }
  auto date = year_first(tokens, at);
  if (!date) {
    date = year_last(tokens, at, options.dialect);
  }
  if (date && is_valid(*date) && !tokens.is_digits(date->end)) {
    const bool range = tokens.is(date->end, "-") && tokens.is(at + 1, "/") &&
                       tokens.is_digits(date->end + 1) && tokens.is(date->end + 2, "/");
    const bool joined = (tokens.is(date->end, "-") && !range) || tokens.is(date->end, "/") ||
                        (tokens.is(date->end, ".") && tokens.is_digits(date->end + 1));
    // "2024-03-01T12:00Z": the time is read behind the date, without its T.
    const bool time = tokens.is(date->end, "T") && tokens.is_digits(date->end + 1, 2, 2);
    if (!joined && (time || !tokens.is_word(date->end))) {
      return Reading{time ? date->end + 1 : date->end,
                     date_words(*date, options.dialect) + (time ? "," : "")};
    }
  }
  if (auto month = month_and_year(tokens, at, options.dialect)) {
    return month;
  }
  if (auto bare = month_and_day(tokens, at, options.dialect)) {
    return bare;
  }
  auto days = days_first(tokens, at, options.dialect);
  return days ? days : day_first(tokens, at, options.dialect);
}

}  // namespace

std::optional<Reading> read_date(const Tokens& tokens, size_t at, const SpokenOptions& options) {
  if (tokens.is_digits(at) && !tokens.begins_word(at)) {
    return std::nullopt;
  }
  auto first = date_at(tokens, at, options);
  if (!first) {
    return std::nullopt;
  }
  // "June 2016's"
  if (tokens.is(first->end, "'") && tokens.is(first->end + 1, "s") &&
      tokens.ends_word(first->end + 2)) {
    return Reading{first->end + 2, first->words + "'s"};
  }
  // "1/1/25\u201312/31/26", "Jun 3-Aug 12, 2025"
  const size_t spaced = tokens.skip_space(first->end);
  const bool en_dash = tokens.is(spaced, "\u2013");
  if (!en_dash && !tokens.is(first->end, "-")) {
    return first;
  }
  const size_t next = en_dash ? tokens.skip_space(spaced + 1) : first->end + 1;
  const auto second = date_at(tokens, next, options);
  return second ? Reading{second->end, first->words + " to " + second->words} : first;
}

}  // namespace mynah
