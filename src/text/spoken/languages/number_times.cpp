// Times of day.
#include "base/ascii.h"
#include "text/spoken/languages/number_reader.h"
#include "text/spoken/tokens.h"

namespace mynah {
namespace {

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  if (const size_t at = text.find(what); at != std::string::npos) {
    text.replace(at, what.size(), with);
  }
}

}  // namespace

// "9.00–17.00": two times of a day, as decimals have another sign.
bool NumberReader::is_clock_range(size_t at) const {
  const auto clock_end = [this](size_t from) {
    const std::string_view hour = digits_at(text_, from, 2);
    const size_t stop = from + hour.size();
    const std::string_view minute = digits_at(text_, stop + 1, 2);
    const bool is_clock = !hour.empty() && digits_value(hour) <= 24 && minute.size() == 2 &&
                          digits_value(minute) < 60 && text_[stop] == '.';
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
  if (hour.empty() || digits_value(hour) > kMostHours) {
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
             (ends || before.size() > kPreposition ||
              language_.hour_behind.contains(word_behind(text_, end)))) {
    const auto other = find_before(language_.hour_before, at - stop);
    form = other == language_.hour_before.end() ? language_.hour_form : other->second;
  }
  const auto words = form.empty() ? std::nullopt : ordinal(digits_value(hour), form);
  return words ? std::optional(SaidNumber{end, *words}) : std::nullopt;
}

// "15:30", "15h30", "9.30 Uhr", "alle 9.30", "15 Uhr"
std::optional<NumberReader::Clock> NumberReader::clock_at(size_t at) const {
  const std::string_view hour = digits_at(text_, at, 2);
  if (hour.empty() || digits_value(hour) > 24) {
    return std::nullopt;
  }
  Clock clock{at + hour.size(), digits_value(hour), 0, {}};
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
  if (minute.size() != 2 || digits_value(minute) > 59) {
    return std::nullopt;
  }
  // "1 h 30 min" is a span of time.
  if (letter && text_.substr(skip_spaces(text_, next + 2)).starts_with("min")) {
    return std::nullopt;
  }
  clock.minute = digits_value(minute);
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
  if (language_.plural(clock.hour, false) == "one") {
    const std::string& one = full ? language_.one_hour : language_.one_time;
    words = one.empty() ? words : one;
  }
  replace_all(words, "{h}", *hours);
  replace_all(words, "{m}", *minutes);
  if (!clock.seconds.empty()) {
    WrittenNumber second;
    second.value = digits_value(clock.seconds);
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
