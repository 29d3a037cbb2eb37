// Dates, years and times of day.
#include <charconv>

#include "text/spoken/characters.h"
#include "text/spoken/languages/number_reader.h"
#include "text/utf8.h"

namespace mynah {
namespace {

unsigned value_of(std::string_view digits) {
  unsigned value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

constexpr uint64_t kMostCenturies = 30;

bool is_date(unsigned day, unsigned month) {
  return day >= 1 && day <= 31 && month >= 1 && month <= 12;
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  if (const size_t at = text.find(what); at != std::string::npos) {
    text.replace(at, what.size(), with);
  }
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
  return Date{at + 10, value_of(day), value_of(month), std::string(year), false};
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
  Date date{end, value_of(day), value_of(month), "", false};
  const size_t behind = step();
  const std::string_view year = digits_at(text_, behind, 4);
  if ((year.size() == 4 || year.size() == 2) && is_border(text_, behind + year.size())) {
    const bool short_year = year.size() == 2;
    // Years of two digits: POSIX's strptime takes 69 to 99 for the last century.
    const std::string century = !short_year ? "" : value_of(year) >= 69 ? "19" : "20";
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
  Date date{at + day.size(), value_of(day), 0, "", false};
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
  date.month = value_of(month->second) + 1;
  date.end = place + name.size();
  const bool cut = date.end < text_.size() && text_[date.end] == '.' && name.size() < 8 &&
                   folded(language_.months[date.month - 1]) != folded(name);
  const size_t behind = over_joint(date.end + (cut ? 1 : 0));
  const std::string_view year = digits_at(text_, behind, 4);
  date.end += cut ? 1 : 0;
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
  const auto first = date ? ordinal(value_of(day), form) : std::nullopt;
  // "с 1 по 5 мая": the second has a preposition of its own.
  const size_t place = language_.day_before.contains(word) ? next : at;
  const auto second = date ? say_date(*date, place) : std::nullopt;
  if (!first || !second || !is_date(date->day, date->month) || !is_date(value_of(day), 1)) {
    return std::nullopt;
  }
  return SaidNumber{date->end, *first + joint + *second};
}

std::optional<std::string> NumberReader::say_date(const Date& date, size_t at) const {
  WrittenNumber day;
  day.value = date.day;
  std::string form = language_.ordinal_day;
  if (date.day == 1 && !language_.ordinal_first_day.empty()) {
    form = language_.ordinal_first_day;
  }
  for (const WordMap* const map : {&language_.ordinal_before, &language_.day_before}) {
    if (const auto before = find_before(*map, at); !form.empty() && before != map->end()) {
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
  const uint64_t number = value_of(date.year);
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

// "9.00–17.00": two times of a day, as decimals have another sign.
bool NumberReader::is_clock_range(size_t at) const {
  const auto clock_end = [this](size_t from) {
    const std::string_view hour = digits_at(text_, from, 2);
    const size_t stop = from + hour.size();
    const std::string_view minute = digits_at(text_, stop + 1, 2);
    const bool is_clock = !hour.empty() && value_of(hour) <= 24 && minute.size() == 2 &&
                          value_of(minute) < 60 && text_[stop] == '.';
    return is_clock ? stop + 3 : 0;
  };
  const size_t end = language_.decimal == "." ? 0 : clock_end(at);
  const auto next = end > 0 ? range_at(end) : std::nullopt;
  return next && clock_end(*next) > 0;
}

// Whether a word near says that "21:19" is a result.
bool NumberReader::is_score_at(size_t at) const {
  constexpr int kWords = 12;
  size_t end = at;
  for (int words = 0; words < kWords && end > 0; ++words) {
    const std::string_view word = word_before(text_, end);
    if (language_.score_words.contains(folded(word))) {
      return true;
    }
    // Over the word, or a mark.
    end = word.empty() ? end - 1 : static_cast<size_t>(word.data() - text_.data());
  }
  return false;
}

// "o 18", "о 18 годині": an hour without its minutes.
std::optional<SaidNumber> NumberReader::read_hour(size_t at) const {
  const std::string_view hour = digits_at(text_, at, 2);
  constexpr unsigned kMostHours = 24;
  if (hour.empty() || value_of(hour) > kMostHours) {
    return std::nullopt;
  }
  const size_t end = at + hour.size();
  const auto noun = language_.hour_nouns.find(word_behind(text_, end));
  const size_t stop = text_.substr(0, at).ends_with(". ") ? 2 : 0;
  const std::string before = folded(word_before(text_, at - stop));
  const bool ends =
      end >= text_.size() || std::string_view(",.;!?)").find(text_[end]) != std::string_view::npos;
  const bool goes_on =
      !is_border(text_, end) || (end + 1 < text_.size() && is_ascii_digit(text_[end + 1]));
  // "o 18 złotych" is no hour, "godzina 18" always one.
  constexpr size_t kPreposition = 3;
  std::string form;
  if (noun != language_.hour_nouns.end()) {
    form = noun->second;
  } else if (language_.hour_alone.contains(before) && !goes_on &&
             (ends || before.size() > kPreposition)) {
    const auto other = find_before(language_.hour_before, at - stop);
    form = other == language_.hour_before.end() ? language_.hour_form : other->second;
  }
  const auto words = form.empty() ? std::nullopt : ordinal(value_of(hour), form);
  return words ? std::optional(SaidNumber{end, *words}) : std::nullopt;
}

// "15:30", "15h30", "9.30 Uhr", "alle 9.30", "15 Uhr"
std::optional<NumberReader::Clock> NumberReader::clock_at(size_t at) const {
  const std::string_view hour = digits_at(text_, at, 2);
  if (hour.empty() || value_of(hour) > 24) {
    return std::nullopt;
  }
  Clock clock{at + hour.size(), value_of(hour), 0, {}};
  size_t next = clock.end;
  const size_t gap = text_.substr(next).starts_with(" ") ? 1 : 0;
  // "kl. 15.30", "all'1.30"
  const size_t stop = text_.substr(0, at).ends_with(". ")  ? 2
                      : text_.substr(0, at).ends_with("'") ? 1
                                                           : 0;
  const bool two_digits = hour.size() == 2 && language_.time_before.contains("*");
  bool named = two_digits || language_.time_before.contains(folded(word_before(text_, at - stop)));
  named = named || is_clock_range(at);
  const auto belongs = [&](size_t end) {
    return longest_key(text_, skip_spaces(text_, end), language_.time_behind);
  };
  size_t sign = longest_key(text_, next + gap, language_.time_signs);
  if (sign == 0 && next + gap < text_.size() && text_[next + gap] == 'h' &&
      language_.time_signs.contains("h")) {
    sign = 1;
  }
  const bool letter = sign > 0 && is_ascii_letter(text_[next + gap]);
  if (sign == 0 || (gap > 0 && !letter)) {
    // "15 Uhr"
    const size_t length = belongs(clock.end);
    if (length == 0 || letter) {
      return std::nullopt;
    }
    clock.end = skip_spaces(text_, clock.end) + length;
    return clock;
  }
  const char mark = text_[next + gap];
  next += gap + sign;
  next = letter && gap > 0 ? skip_spaces(text_, next) : next;
  const std::string_view minute = digits_at(text_, next, 2);
  if (letter && minute.size() != 2) {
    // "15h", which is hours where a language has clocks so, and else a span of time
    if (!language_.time_behind.contains("h")) {
      return std::nullopt;
    }
    clock.end = clock.end + gap + sign;
    return is_border(text_, clock.end) ? std::optional(clock) : std::nullopt;
  }
  if (minute.size() != 2 || value_of(minute) > 59) {
    return std::nullopt;
  }
  clock.minute = value_of(minute);
  clock.end = next + 2;
  if (mark == ':' && text_.substr(clock.end).starts_with(":")) {
    clock.seconds = digits_at(text_, clock.end + 1, 2);
    if (clock.seconds.size() != 2) {
      return std::nullopt;
    }
    clock.end += 3;
  }
  const size_t behind = skip_spaces(text_, clock.end);
  if (text_.substr(behind).starts_with("h") && is_border(text_, behind + 1)) {
    clock.end = behind + 1;
    named = true;
  } else if (const size_t length = belongs(clock.end); length > 0) {
    clock.end = skip_spaces(text_, clock.end) + length;
    named = true;
  } else {
    named = named || language_.time_named.contains(word_behind(text_, clock.end));
  }
  if (mark == ':' && !named && clock.seconds.empty() && is_score_at(at)) {
    return std::nullopt;
  }
  return (mark != '.' || named) && is_border(text_, clock.end) ? std::optional(clock)
                                                               : std::nullopt;
}

std::optional<std::string> NumberReader::say_clock(const Clock& clock, size_t at) const {
  WrittenNumber hour;
  hour.value = clock.hour;
  WrittenNumber minute;
  minute.value = clock.minute;
  std::string form = language_.hour_form;
  const size_t stop = text_.substr(0, at).ends_with(". ") ? 2 : 0;
  if (const auto other = find_before(language_.hour_before, at - stop);
      other != language_.hour_before.end()) {
    form = other->second;
  }
  const std::string_view noun_case = case_at(at, Amount{});
  const auto hours = form.empty() ? cardinal(hour, noun_case == "genitive"
                                                       ? in_case(language_.hour_gender, noun_case)
                                                       : language_.hour_gender)
                                  : ordinal(hour.value, form);
  auto minutes = cardinal(minute, language_.minute_gender);
  if (!hours || !minutes) {
    return std::nullopt;
  }
  if (clock.minute < 10 && !language_.minute_zero.empty()) {
    *minutes = language_.minute_zero + " " + *minutes;
  }
  const bool full = clock.minute == 0 && clock.seconds.empty() && !language_.full_hour.empty();
  std::string words = full ? language_.full_hour : language_.time;
  if (full && clock.hour == 1 && !language_.one_hour.empty()) {
    words = language_.one_hour;
  }
  replace_all(words, "{h}", *hours);
  replace_all(words, "{m}", *minutes);
  if (!clock.seconds.empty()) {
    WrittenNumber second;
    second.value = value_of(clock.seconds);
    words += " " + cardinal(second, language_.minute_gender).value_or("");
  }
  return words;
}

std::optional<SaidNumber> NumberReader::read_time(size_t at) const {
  if (auto hour = read_hour(at)) {
    return hour;
  }
  const auto clock = language_.time.empty() ? std::nullopt : clock_at(at);
  if (!clock) {
    return std::nullopt;
  }
  auto words = say_clock(*clock, at);
  if (!words) {
    return std::nullopt;
  }
  size_t end = clock->end;
  // "9:30-11:00"
  if (const auto next = range_at(end)) {
    const auto second = clock_at(*next);
    const auto until = second ? say_clock(*second, at) : std::nullopt;
    if (!until) {
      return std::nullopt;
    }
    *words += " " + (sign("range").empty() ? std::string("-") : sign("range")) + " " + *until;
    end = second->end;
  }
  return SaidNumber{end, *words};
}

}  // namespace mynah
