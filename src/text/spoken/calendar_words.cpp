#include "text/spoken/calendar_words.h"

#include <array>
#include <string>

#include "text/spoken/calendar.h"
#include "text/spoken/characters.h"

namespace mynah {
namespace {

bool is_month(std::string_view word) {
  const std::string_view name = calendar_name(word);
  return !name.empty() && !among(kDays, name);
}

// A day of the month, or a time, as it stands behind a day's name: "3 May", "3rd", "10am", "9:30".
bool is_moment(const Tokens& tokens, size_t at) {
  if (!tokens.is_digits(at, 1, 2)) {
    return is_month(tokens.text(at)) && tokens.is_space(at + 1) && tokens.is_digits(at + 2, 1, 2);
  }
  constexpr auto kBehind =
      std::to_array<std::string_view>({"st", "nd", "rd", "th", "am", "pm", "AM", "PM", "a", "p"});
  // "Sat 10-4", "Mon 12/2"
  const size_t dash = at + 1;
  if (tokens.is(dash, "/") && tokens.is_digits(dash + 1, 1, 2)) {
    return true;
  }
  if ((tokens.is(dash, "-") || tokens.is(dash, "\u2013")) && tokens.is_digits(dash + 1, 1, 2)) {
    return true;
  }
  const std::string_view behind = tokens.word_behind(at + 1);
  return is_month(behind) || among(kBehind, behind) ||
         (tokens.is(at + 1, ":") && tokens.is_digits(at + 2, 2, 2));
}

}  // namespace

std::optional<Reading> read_day(const Tokens& tokens, size_t at) {
  constexpr auto kWords = std::to_array<std::string_view>({"Sat", "Sun", "Wed", "Mon"});
  constexpr auto kBefore = std::to_array<std::string_view>(
      {"on", "On", "every", "Every", "next", "Next", "last", "Last", "until", "till", "since",
       "each", "Each", "am", "pm", "AM", "PM", "noon"});
  constexpr auto kJoining = std::to_array<std::string_view>({"and", "or", "to", "through"});
  const std::string_view name = day_name(tokens.text(at));
  if (name.empty() || name == tokens.text(at) || !tokens.begins_word(at)) {
    return std::nullopt;
  }
  const auto day_before = [&](size_t i) {
    const size_t word = tokens.is(i, ".") ? i - 1 : i;
    return i > 0 && i < at && !day_name(tokens.text(word)).empty();
  };
  const size_t end = tokens.is(at + 1, ".") && !tokens.ends_text(at + 2) ? at + 2 : at + 1;
  const size_t next = tokens.skip_space(tokens.is(end, ",") ? end + 1 : end);
  const std::string_view before = tokens.word_before(at);
  const bool joined = among(kJoining, tokens.text(next)) &&
                      !day_name(tokens.text(tokens.skip_space(next + 1))).empty();
  const bool second = (among(kJoining, before) && day_before(at - 4)) ||
                      (at > 2 && tokens.is(at - 2, ",") && day_before(at - 3));
  const bool listed = tokens.is(end, ",") && !day_name(tokens.text(next)).empty();
  // "Sun. closed": cut short, as the sentence goes on.
  const bool cut = end == at + 2 && tokens.is_space(end) && !tokens.text(next).empty() &&
                   (is_ascii_lower(tokens.text(next)[0]) || tokens.is(next, "&")) &&
                   !tokens.ends_text(end);
  const bool beside =
      is_moment(tokens, next) || joined || second || listed || cut || among(kBefore, before);
  if (!tokens.ends_word(end) || (among(kWords, tokens.text(at)) && !beside)) {
    return std::nullopt;
  }
  return Reading{end, std::string(name)};
}

std::optional<Reading> read_calendar_name(const Tokens& tokens, size_t at) {
  const std::string_view name = calendar_name(tokens.text(at));
  if (name.empty()) {
    return std::nullopt;
  }
  const auto is_dash = [&](size_t i) { return tokens.is(i, "-") || tokens.is(i, "\u2013"); };
  const size_t end = tokens.is(at + 1, ".") ? at + 2 : at + 1;
  const bool stroke = tokens.is(end, "/") || (at > 0 && tokens.is(at - 1, "/"));
  const bool first =
      (is_dash(end) || tokens.is(end, "/")) && !calendar_name(tokens.text(end + 1)).empty();
  const size_t before = at > 2 && tokens.is(at - 2, ".") ? at - 3 : at - 2;
  const bool second =
      at > 1 && (is_dash(at - 1) || stroke) && !calendar_name(tokens.text(before)).empty();
  const bool date = among(kDays, name) && tokens.is(end, ",") && tokens.is_space(end + 1) &&
                    (tokens.is_digits(end + 2) || is_title_case(tokens.text(end + 2)));
  // "mid-Jan. sales"
  constexpr auto kPrefixes =
      std::to_array<std::string_view>({"mid", "post", "pre", "late", "early"});
  const bool prefixed = at > 1 && name != tokens.text(at) && tokens.is(at - 1, "-") &&
                        tokens.is(at + 1, ".") &&
                        among(kPrefixes, ascii_lower(tokens.text(at - 2)));
  return first || second || date || prefixed ? std::optional(Reading{end, std::string(name)})
                                             : std::nullopt;
}

}  // namespace mynah
