#include "text/spoken/say_as.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/ascii.h"
#include "text/spoken/calendar.h"
#include "text/spoken/cardinals.h"
#include "text/spoken/quantity.h"
#include "text/spoken/reading.h"
#include "text/utf8.h"

namespace mynah {
namespace {

constexpr auto kKnown = std::to_array<std::string_view>(
    {"characters", "spell-out", "verbatim", "digits", "cardinal", "number", "ordinal", "date",
     "time", "telephone", "currency", "fraction", "unit", "address", "expletive", "bleep",
     "interjection"});

std::string character_name(std::string_view character) {
  constexpr auto kNames =
      std::to_array<std::pair<std::string_view, std::string_view>>({{".", "dot"},
                                                                    {",", "comma"},
                                                                    {"-", "dash"},
                                                                    {"_", "underscore"},
                                                                    {"/", "slash"},
                                                                    {"\\", "backslash"},
                                                                    {":", "colon"},
                                                                    {";", "semicolon"},
                                                                    {"!", "exclamation mark"},
                                                                    {"?", "question mark"},
                                                                    {"@", "at"},
                                                                    {"#", "hash"},
                                                                    {"$", "dollar"},
                                                                    {"%", "percent"},
                                                                    {"^", "caret"},
                                                                    {"&", "and"},
                                                                    {"*", "star"},
                                                                    {"+", "plus"},
                                                                    {"=", "equals"},
                                                                    {"(", "open parenthesis"},
                                                                    {")", "close parenthesis"},
                                                                    {"'", "apostrophe"},
                                                                    {"\"", "quote"},
                                                                    {"~", "tilde"}});
  const auto* const found =
      std::ranges::find(kNames, character, &std::pair<std::string_view, std::string_view>::first);
  return std::string(found == kNames.end() ? "" : found->second);
}

// Every character by its name.
std::string character_words(std::string_view text) {
  std::string words;
  for (size_t at = 0; at < text.size();) {
    const Utf8Step step = next_code_point(text.substr(at));
    const std::string_view character = text.substr(at, step.bytes);
    std::string name;
    if (is_ascii_digit(text[at])) {
      name = digit_words(character);
    } else if (is_ascii_letter(text[at])) {
      name = spell(character);
    } else if (step.code_point >= 0x80 && step.valid) {
      name = kLetterName + std::string(character);
    } else {
      name = character_name(character);
    }
    words = join_words(words, name);
    at += step.bytes;
  }
  return words;
}

std::string only_digits(std::string_view text) {
  std::string digits;
  std::ranges::copy_if(text, std::back_inserter(digits), is_ascii_digit);
  return digits;
}

std::vector<std::string> digit_groups(std::string_view text) {
  std::vector<std::string> groups;
  bool open = false;
  for (const char c : text) {
    if (is_ascii_digit(c)) {
      if (!open) {
        groups.emplace_back();
      }
      groups.back() += c;
    }
    open = is_ascii_digit(c);
  }
  return groups;
}

std::string telephone_words(std::string_view text) {
  std::string words = text.starts_with('+') ? "plus" : "";
  bool first = true;
  for (const std::string& group : digit_groups(text)) {
    words += first ? (words.empty() ? "" : " ") : ", ";
    words += digit_words(group);
    first = false;
  }
  return words;
}

// "2/3", "1+1/2", "1 1/2".
std::optional<std::string> fraction_of(std::string_view text, EnglishDialect dialect) {
  const auto groups = digit_groups(text);
  if (text.find('/') == std::string_view::npos || groups.size() < 2 || groups.size() > 3) {
    return std::nullopt;
  }
  const std::string& below = groups.back();
  const std::string& above = groups[groups.size() - 2];
  if (groups.size() == 2) {
    return fraction_words(above, below, false, dialect);
  }
  return cardinal_words(groups[0], dialect) + " and " + fraction_words(above, below, true, dialect);
}

constexpr auto kMonths =
    std::to_array<std::string_view>({"January", "February", "March", "April", "May", "June", "July",
                                     "August", "September", "October", "November", "December"});

// Parts in the order of the format's letters.
std::optional<std::string> date_of(std::string_view text, std::string_view format,
                                   EnglishDialect dialect) {
  const auto groups = digit_groups(text);
  if (format.empty() || groups.size() != format.size()) {
    return std::nullopt;
  }
  std::string year;
  std::string month;
  std::string day;
  for (size_t i = 0; i < format.size(); ++i) {
    const std::string& digits = groups[i];
    if (format[i] == 'y' && digits.size() <= 4) {
      year = year_words(digits, dialect);
    } else if (format[i] == 'm' && digits.size() <= 2) {
      const unsigned number = digits_value(digits);
      if (number < 1 || number > 12) {
        return std::nullopt;
      }
      month = kMonths[number - 1];
    } else if (format[i] == 'd' && digits.size() <= 2) {
      day = ordinal_words(digits, dialect);
    } else {
      return std::nullopt;
    }
  }
  const bool day_first = dialect == EnglishDialect::British || format.starts_with('d');
  std::string words = month;
  if (!day.empty()) {
    words = month.empty() ? day : (day_first ? "the " + day + " of " + month : month + " " + day);
  }
  return year.empty() ? words : words + (words.empty() ? "" : day.empty() ? " " : ", ") + year;
}

}  // namespace

bool is_known_say_as(std::string_view interpret_as) {
  return among(kKnown, interpret_as);
}

std::optional<std::string> say_as_words(std::string_view text, std::string_view interpret_as,
                                        std::string_view format, EnglishDialect dialect) {
  const std::string digits = only_digits(text);
  if (interpret_as == "characters" || interpret_as == "spell-out" || interpret_as == "verbatim") {
    return character_words(text);
  }
  if (interpret_as == "expletive" || interpret_as == "bleep") {
    return "beep";
  }
  if (interpret_as == "date") {
    return date_of(text, format, dialect);
  }
  if (digits.empty()) {
    return std::nullopt;
  }
  if (interpret_as == "digits") {
    return digit_words(digits);
  }
  if (interpret_as == "telephone") {
    return telephone_words(text);
  }
  if (interpret_as == "fraction") {
    return fraction_of(text, dialect);
  }
  const bool whole = text.find('.') == std::string_view::npos;
  if (interpret_as == "ordinal" && whole) {
    return ordinal_words(digits, dialect);
  }
  if ((interpret_as == "cardinal" || interpret_as == "number") && whole) {
    return std::string(text.starts_with('-') ? "minus " : "") + cardinal_words(digits, dialect);
  }
  return std::nullopt;
}

}  // namespace mynah
