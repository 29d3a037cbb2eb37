#include "text/spoken/languages/number_scan.h"

#include <algorithm>

#include "base/ascii.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {
namespace {

// Enough of 10^18, beyond which rules have no words.
constexpr size_t kMostDigits = 18;

// What is looked at around a number is bounded.
constexpr size_t kLongestWord = 64;

bool is_digit_at(std::string_view text, size_t at) {
  return at < text.size() && is_ascii_digit(text[at]);
}

size_t digits_end(std::string_view text, size_t at) {
  while (is_digit_at(text, at)) {
    ++at;
  }
  return at;
}

// Whether exactly so many digits stand at `at`.
bool has_digits(std::string_view text, size_t at, size_t count) {
  return digits_end(text, std::min(at, text.size())) == at + count;
}

// The end of groups behind `at`: three digits each, in Indian numbers two but for the last.
size_t groups_end(std::string_view text, size_t at, char sign, bool lakhs) {
  size_t end = at;
  while (end < text.size() && text[end] == sign) {
    if (has_digits(text, end + 1, 3)) {
      end += 4;
      if (lakhs) {
        break;
      }
    } else if (lakhs && has_digits(text, end + 1, 2) && end + 3 < text.size() &&
               text[end + 3] == sign) {
      end += 3;
    } else {
      break;
    }
  }
  return end;
}

bool is_word_part(char32_t c) {
  return is_letter(c) || is_mark(c);
}

}  // namespace

std::optional<WrittenNumber> scan_number(std::string_view text, size_t at,
                                         const LanguageNumbers& language) {
  size_t end = digits_end(text, at);
  const size_t first = end - at;
  if (first == 0 || first > kMostDigits) {
    return std::nullopt;
  }
  WrittenNumber number;
  bool stops = false;  // thousands are grouped by stops
  if (first <= 3 && text[at] != '0' && end < text.size() &&
      language.groups.find(text[end]) != std::string::npos) {
    const size_t grouped = groups_end(text, end, text[end], language.lakhs);
    // "91 123 45 67" is no amount: other digits follow behind a space.
    const bool goes_on = text[end] == ' ' && grouped < text.size() && text[grouped] == ' ' &&
                         is_digit_at(text, grouped + 1);
    if (!goes_on && grouped > end) {
      number.grouped = true;
      stops = text[end] == '.';
      end = grouped;
    }
  }
  for (const char c : text.substr(at, end - at)) {
    if (is_ascii_digit(c)) {
      number.digits += c;
    }
  }
  if (number.digits.size() > kMostDigits) {
    return std::nullopt;
  }
  for (const char digit : number.digits) {
    number.value = number.value * 10 + static_cast<uint64_t>(digit - '0');
  }
  const bool decimal = end < text.size() && text[end] == language.decimal[0];
  const bool point = !decimal && !stops && end < text.size() && text[end] == '.';
  if ((decimal || point) && is_digit_at(text, end + 1)) {
    const size_t stop = digits_end(text, end + 1);
    number.fraction = text.substr(end + 1, stop - end - 1);
    number.point = point && !number.grouped;
    end = stop;
    if (number.fraction.size() > kMostDigits) {
      return std::nullopt;
    }
  }
  // "5,- Euro"
  for (const std::string_view none : {"-", "\u2013", "\u2014"}) {
    // "5.-" is written in Switzerland.
    const bool stop = end < text.size() && text[end] == '.' && none == "-";
    if ((decimal || stop) && number.fraction.empty() && text.substr(end + 1).starts_with(none) &&
        is_border(text, end + 1 + none.size())) {
      end += 1 + none.size();
      break;
    }
  }
  number.end = end;
  // "1.2.3" is a version, "10.0.0.1" an address.
  const bool goes_on =
      end < text.size() && (text[end] == '.' || text[end] == ',') && is_digit_at(text, end + 1);
  return goes_on || is_digit_at(text, end) ? std::nullopt : std::optional(std::move(number));
}

std::string_view digits_at(std::string_view text, size_t at, size_t most) {
  at = std::min(at, text.size());
  const size_t end = digits_end(text, at);
  return end - at <= most ? text.substr(at, end - at) : std::string_view{};
}

std::string_view letters_at(std::string_view text, size_t at) {
  at = std::min(at, text.size());
  size_t end = at;
  while (end < text.size() && end - at < kLongestWord) {
    const Utf8Step step = next_code_point(text.substr(end));
    if (!is_word_part(step.code_point)) {
      break;
    }
    end += step.bytes;
  }
  return text.substr(at, end - at);
}

size_t skip_spaces(std::string_view text, size_t at) {
  for (size_t spaces = 0; spaces < 2 && at < text.size() && text[at] == ' '; ++spaces) {
    ++at;
  }
  return at;
}

std::string_view word_behind(std::string_view text, size_t at) {
  return letters_at(text, skip_spaces(text, at));
}

std::string_view word_before(std::string_view text, size_t at) {
  while (at > 0 && text[at - 1] == ' ') {
    --at;
  }
  size_t begin = at;
  while (begin > 0 && at - begin < kLongestWord) {
    size_t previous = begin - 1;
    while (previous > 0 && (static_cast<unsigned char>(text[previous]) & 0xC0U) == 0x80U) {
      --previous;
    }
    if (!is_word_part(next_code_point(text.substr(previous)).code_point)) {
      break;
    }
    begin = previous;
  }
  return text.substr(begin, at - begin);
}

bool is_border(std::string_view text, size_t at) {
  if (at >= text.size()) {
    return true;
  }
  const char32_t c = next_code_point(text.substr(at)).code_point;
  return !is_word_part(c) && !decimal_digit(c);
}

bool is_border_before(std::string_view text, size_t at) {
  size_t begin = std::min(at, text.size());
  if (begin == 0) {
    return true;
  }
  --begin;
  while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80U) {
    --begin;
  }
  return is_border(text, begin);
}

std::string folded(std::string_view word) {
  return to_utf8(to_lower(to_code_points(word)));
}

bool ends_key(std::string_view text, size_t at, size_t length) {
  size_t last = at + length - 1;
  while (last > at && (static_cast<unsigned char>(text[last]) & 0xC0U) == 0x80U) {
    --last;
  }
  return is_border(text, at + length) || is_border(text.substr(0, at + length), last);
}

}  // namespace mynah
