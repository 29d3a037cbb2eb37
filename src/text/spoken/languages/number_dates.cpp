// Dates and years.
#include "text/spoken/characters.h"
#include "text/spoken/languages/number_reader.h"
#include "text/spoken/tokens.h"
#include "text/utf8.h"

namespace mynah {
namespace {

constexpr uint64_t kMostCenturies = 30;

bool is_date(unsigned day, unsigned month) {
  return day >= 1 && day <= 31 && month >= 1 && month <= 12;
}

}  // namespace

std::optional<std::string> NumberReader::year_words(uint64_t year) const {
  const bool own =
      !language_.year_set.empty() && year >= language_.year_low && year <= language_.year_high;
  return language_.rules->words(year,
                                own ? language_.year_set : language_.cardinals.find("")->second);
}

// A year by the words around it, or a century ("в 19 веке").
std::optional<SaidNumber> NumberReader::read_year(const WrittenNumber& number, size_t at) const {
  const std::string_view noun = word_behind(text_, number.end);
  if (number.is_whole() && number.value > 0 && number.value <= kMostCenturies &&
      language_.century_words.contains(noun)) {
    const std::string form = form_before_noun(at, noun);
    // "2 века": two of them.
    const bool counted =
        form.ends_with("-genitive") && language_.plural(number.value, false) == "few";
    const auto words = counted ? std::nullopt : ordinal(number.value, form);
    if (words) {
      return SaidNumber{number.end, *words};
    }
  }
  if (!number.is_whole() || number.grouped || number.digits.size() > 4 || number.digits[0] == '0' ||
      number.digits.size() < 3) {
    return std::nullopt;
  }
  const size_t gap = skip_spaces(text_, number.end);
  const std::string before = folded(word_before(text_, at));
  std::string behind = folded(word_behind(text_, number.end));
  size_t end = number.end;
  std::string tail;
  if (const size_t length = longest_key(text_, gap, language_.year_short); length > 0) {
    // "г.", behind a preposition another form of the word
    const std::string sign(text_.substr(gap, length));
    const auto other = language_.year_short.find(before + " " + sign);
    behind = other == language_.year_short.end() ? language_.year_short.find(sign)->second
                                                 : other->second;
    tail = " " + behind;
    end = gap + length;
  }
  if (const auto form = language_.year_behind.find(behind); form != language_.year_behind.end()) {
    const auto other = language_.year_behind_after.find(before + " " + behind);
    const auto words = ordinal(
        number.value, other == language_.year_behind_after.end() ? form->second : other->second);
    return words ? std::optional(SaidNumber{end, *words + tail}) : std::nullopt;
  }
  if (number.digits.size() != 4 || number.value < language_.year_low ||
      number.value > language_.year_high) {
    return std::nullopt;
  }
  // "1985 wurde": nothing is counted.
  const std::string_view next = word_behind(text_, number.end);
  const bool counts = !next.empty() && (!is_lower_case(next_code_point(next).code_point));
  const bool noun_free = language_.year_before.contains("*") && !counts;
  if (!noun_free && !language_.year_before.contains(before) &&
      !language_.month_of.contains(before)) {
    return std::nullopt;
  }
  const auto words = year_words(number.value);
  return words ? std::optional(SaidNumber{end, *words}) : std::nullopt;
}

// "1941–1945 гг.": two ordinals and their noun in the plural.
std::optional<SaidNumber> NumberReader::read_years(const WrittenNumber& first,
                                                   const WrittenNumber& second, size_t at) const {
  const size_t gap = skip_spaces(text_, second.end);
  const size_t length = longest_key(text_, gap, language_.years_short);
  if (length == 0) {
    return std::nullopt;
  }
  // "form noun", behind a preposition another
  auto found = language_.years_short.find(folded(word_before(text_, at)) + " " +
                                          std::string(text_.substr(gap, length)));
  found = found == language_.years_short.end()
              ? language_.years_short.find(text_.substr(gap, length))
              : found;
  const size_t space = found->second.find(' ');
  const std::string form = found->second.substr(0, space);
  const auto begin = ordinal(first.value, form);
  const auto end = ordinal(second.value, form);
  return begin && end ? std::optional(SaidNumber{gap + length,
                                                 *begin + "-" + *end + found->second.substr(space)})
                      : std::nullopt;
}

// "2024-10-03"
std::optional<NumberReader::Date> NumberReader::iso_date(size_t at) const {
  const std::string_view year = digits_at(text_, at, 4);
  const std::string_view month = digits_at(text_, at + 5, 2);
  const std::string_view day = digits_at(text_, at + 8, 2);
  if (year.size() != 4 || month.size() != 2 || day.size() != 2 || text_[at + 4] != '-' ||
      text_[at + 7] != '-' || !is_border(text_, at + 10)) {
    return std::nullopt;
  }
  return Date{at + 10, digits_value(day), digits_value(month), std::string(year), false};
}

// "3.10.2024", "03/10/24", "3. 10. 2024", "3.10."
std::optional<NumberReader::Date> NumberReader::numeric_date(size_t at) const {
  const std::string_view day = digits_at(text_, at, 2);
  size_t end = at + day.size();
  if (day.empty() || end >= text_.size() ||
      std::string_view("./-").find(text_[end]) == std::string_view::npos) {
    return std::nullopt;
  }
  const char mark = text_[end];
  const auto step = [&] { return mark == '.' ? skip_spaces(text_, end + 1) : end + 1; };
  end = step();
  const std::string_view month = digits_at(text_, end, 2);
  end += month.size();
  if (month.empty() || end >= text_.size() || text_[end] != mark) {
    return std::nullopt;
  }
  Date date{end, digits_value(day), digits_value(month), "", false};
  const size_t behind = step();
  const std::string_view year = digits_at(text_, behind, 4);
  // "06.12.34.56.78" is a telephone's.
  const size_t year_end = behind + year.size();
  const bool goes_on =
      year_end + 1 < text_.size() && text_[year_end] == mark && is_ascii_digit(text_[year_end + 1]);
  if (goes_on) {
    return std::nullopt;
  }
  if ((year.size() == 4 || year.size() == 2) && is_border(text_, behind + year.size())) {
    const bool short_year = year.size() == 2;
    // Years of two digits: POSIX's strptime takes 69 to 99 for the last century.
    const std::string century = !short_year ? "" : digits_value(year) >= 69 ? "19" : "20";
    date.year = century + std::string(year);
    date.end = behind + year.size();
    return date;
  }
  // "am 3.10." needs its second stop.
  if (mark != '.' || !language_.ordinal_stop ||
      behind != end + 1 + (text_[behind - 1] == ' ' ? 1U : 0U)) {
    return std::nullopt;
  }
  date.end = end + 1;
  return year.empty() ? std::optional(date) : std::nullopt;
}

// "3. Oktober 2024", "3 de octubre de 2024", "1er mai"
std::optional<NumberReader::Date> NumberReader::named_date(size_t at) const {
  const std::string_view day = digits_at(text_, at, 2);
  if (day.empty()) {
    return std::nullopt;
  }
  Date date{at + day.size(), digits_value(day), 0, "", false};
  if (date.end < text_.size() && text_[date.end] == '.') {
    date.stopped = true;
    ++date.end;
  } else if (const size_t length = longest_key(text_, date.end, language_.ordinal_suffixes)) {
    date.stopped = true;
    date.end += length;
  }
  const auto over_joint = [&](size_t end) {
    size_t next = skip_spaces(text_, end);
    const std::string_view word = letters_at(text_, next);
    if (!language_.date_joint.empty() && folded(word) == language_.date_joint) {
      next = skip_spaces(text_, next + word.size());
    }
    return next;
  };
  const size_t place = over_joint(date.end);
  const std::string_view name = letters_at(text_, place);
  const auto month = language_.month_of.find(folded(name));
  if (place == date.end || month == language_.month_of.end()) {
    return std::nullopt;
  }
  date.month = digits_value(month->second) + 1;
  date.end = place + name.size();
  // "oct.", in Hindi with a sign of its own.
  constexpr size_t kLongestCut = 16;
  size_t cut = 0;
  if (name.size() < kLongestCut && folded(language_.months[date.month - 1]) != folded(name)) {
    for (const std::string_view mark : {".", "\u0970"}) {
      cut = text_.substr(date.end).starts_with(mark) ? mark.size() : cut;
    }
  }
  date.end += cut;
  const size_t behind = over_joint(date.end);
  const std::string_view year = digits_at(text_, behind, 4);
  // "el 3 de mayo, 15:30": no year; a number that goes on is none.
  if (year.size() == 4 && behind > date.end && is_border(text_, behind + 4) &&
      !(behind + 4 < text_.size() && text_[behind + 4] == ':')) {
    const auto whole = scan_number(text_, behind, language_);
    if (!whole || whole->is_whole()) {
      date.year = year;
      date.end = behind + 4;
    }
  }
  return date;
}

// "8. und 9. Mai", "14.–16. Mai": the first day has the month of the second.
std::optional<SaidNumber> NumberReader::read_days(size_t at) const {
  const std::string_view day = digits_at(text_, at, 2);
  if (day.empty() || language_.ordinal_day.empty()) {
    return std::nullopt;
  }
  size_t end = at + day.size();
  end += language_.ordinal_stop && text_.substr(end).starts_with(".") ? 1 : 0;
  const size_t gap = skip_spaces(text_, end);
  const std::string_view word = letters_at(text_, gap);
  std::string joint;
  size_t next = gap;
  if (language_.day_joints.contains(word)) {
    joint = " " + std::string(word) + " ";
    next = gap + word.size();
  } else {
    for (const std::string_view mark : {"\u2013", "-", "/"}) {
      if (text_.substr(gap).starts_with(mark)) {
        joint = mark == "/" || sign("range").empty() ? " " : " " + sign("range") + " ";
        next = gap + mark.size();
      }
    }
  }
  next = skip_spaces(text_, next);
  const auto date = joint.empty() ? std::nullopt : named_date(next);
  std::string form = language_.ordinal_day;
  for (const WordMap* const map : {&language_.ordinal_before, &language_.day_before}) {
    if (const auto before = find_before(*map, at); before != map->end()) {
      form = before->second;
    }
  }
  const auto first = date ? ordinal(digits_value(day), form) : std::nullopt;
  // "с 1 по 5 мая": the second has a preposition of its own.
  const size_t place = language_.day_before.contains(word) ? next : at;
  const auto second = date ? say_date(*date, place) : std::nullopt;
  if (!first || !second || !is_date(date->day, date->month) || !is_date(digits_value(day), 1)) {
    return std::nullopt;
  }
  return SaidNumber{date->end, *first + joint + *second};
}

// Where "Donnerstag, 3. Oktober" begins, whose preposition the day has, too.
size_t NumberReader::before_weekday(size_t at) const {
  if (!text_.substr(0, at).ends_with(", ")) {
    return at;
  }
  const std::string_view day = word_before(text_, at - 2);
  return language_.weekdays.contains(folded(day)) ? static_cast<size_t>(day.data() - text_.data())
                                                  : at;
}

std::optional<std::string> NumberReader::say_date(const Date& date, size_t at) const {
  WrittenNumber day;
  day.value = date.day;
  std::string form = language_.ordinal_day;
  if (date.day == 1 && !language_.ordinal_first_day.empty()) {
    form = language_.ordinal_first_day;
  }
  for (const WordMap* const map : {&language_.ordinal_before, &language_.day_before}) {
    if (const auto before = find_before(*map, before_weekday(at));
        !form.empty() && before != map->end()) {
      form = before->second;
    }
  }
  const auto first = form.empty() ? cardinal(day, language_.day_gender) : ordinal(date.day, form);
  if (!first || date.month > language_.months.size()) {
    return std::nullopt;
  }
  const std::string joint = language_.date_joint.empty() ? " " : " " + language_.date_joint + " ";
  std::string words = *first + joint + language_.months[date.month - 1];
  if (date.year.empty()) {
    return words;
  }
  const uint64_t number = digits_value(date.year);
  const auto year =
      language_.date_year.empty() ? year_words(number) : ordinal(number, language_.date_year);
  return year ? std::optional(words + joint + *year) : std::nullopt;
}

std::optional<SaidNumber> NumberReader::read_date(size_t at) const {
  if (auto days = read_days(at)) {
    return days;
  }
  auto date = iso_date(at);
  date = date ? date : numeric_date(at);
  date = date ? date : named_date(at);
  if (!date || !is_date(date->day, date->month)) {
    return std::nullopt;
  }
  const auto words = say_date(*date, at);
  if (!words) {
    return std::nullopt;
  }
  SaidNumber said{date->end, *words};
  if (!date->year.empty() && !language_.date_year_word.empty()) {
    const size_t gap = skip_spaces(text_, said.end);
    const size_t length = longest_key(text_, gap, language_.year_short);
    said.end = length > 0 ? gap + length : said.end;
    const bool has_word =
        length == 0 && folded(word_behind(text_, said.end)) == language_.date_year_word;
    said.words += has_word ? "" : " " + language_.date_year_word;
  }
  return said;
}

}  // namespace mynah
