#include "text/spoken/cardinals.h"

#include <array>
#include <utility>

namespace mynah {
namespace {

constexpr auto kSmall = std::to_array<std::string_view>(
    {"zero",     "one",     "two",     "three",     "four",     "five",    "six",
     "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",  "thirteen",
     "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"});
constexpr auto kTens = std::to_array<std::string_view>(
    {"", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"});
// The short scale, which English has everywhere today.
constexpr auto kScales = std::to_array<std::string_view>(
    {"", "thousand", "million", "billion", "trillion", "quadrillion", "quintillion", "sextillion",
     "septillion", "octillion", "nonillion", "decillion"});
constexpr size_t kNamedDigits = 3 * kScales.size();

std::string_view without_zeros(std::string_view digits) {
  const size_t first = digits.find_first_not_of('0');
  return first == std::string_view::npos ? digits.substr(digits.size() - 1) : digits.substr(first);
}

unsigned value_of(std::string_view digits) {
  unsigned value = 0;
  for (const char digit : digits) {
    value = value * 10 + static_cast<unsigned>(digit - '0');
  }
  return value;
}

// 0 to 99.
std::string below_hundred(unsigned value) {
  if (value < 20) {
    return std::string(kSmall[value]);
  }
  std::string words(kTens[value / 10]);
  if (value % 10 != 0) {
    words += "-";
    words += kSmall[value % 10];
  }
  return words;
}

// 1 to 999.
std::string below_thousand(unsigned value, EnglishDialect dialect) {
  if (value < 100) {
    return below_hundred(value);
  }
  std::string words(kSmall[value / 100]);
  words += " hundred";
  if (value % 100 != 0) {
    words += dialect == EnglishDialect::British ? " and " : " ";
    words += below_hundred(value % 100);
  }
  return words;
}

// "oh five", "forty-five".
std::string second_pair(unsigned value) {
  return value < 10 ? "oh " + below_hundred(value) : below_hundred(value);
}

std::string hundreds(unsigned value, EnglishDialect dialect) {
  if (value < 10) {
    return std::string(kSmall[value]);
  }
  if (value % 1000 == 0) {
    return cardinal_words(std::to_string(value), dialect);
  }
  if (value % 100 == 0) {
    return below_hundred(value / 100) + " hundred";
  }
  return value < 100 ? below_hundred(value)
                     : below_hundred(value / 100) + " " + second_pair(value % 100);
}

}  // namespace

std::string cardinal_words(std::string_view digits, EnglishDialect dialect) {
  digits = without_zeros(digits);
  if (digits.size() > kNamedDigits) {
    return digit_words(digits);
  }
  std::string words;
  const size_t groups = (digits.size() + 2) / 3;
  for (size_t group = groups; group-- > 0;) {
    const size_t end = digits.size() - 3 * group;
    const size_t begin = end > 3 ? end - 3 : 0;
    const unsigned value = value_of(digits.substr(begin, end - begin));
    if (value == 0) {
      continue;
    }
    if (!words.empty()) {
      const bool joined = group == 0 && value < 100 && dialect == EnglishDialect::British;
      words += joined ? " and " : " ";
    }
    words += below_thousand(value, dialect);
    if (group > 0) {
      words += " ";
      words += kScales[group];
    }
  }
  return words.empty() ? "zero" : words;
}

std::string indian_words(std::string_view digits, EnglishDialect dialect) {
  constexpr size_t kCrore = 7;  // digits behind it
  constexpr size_t kLakh = 5;
  digits = without_zeros(digits);
  std::string words;
  const auto take = [&](size_t behind, std::string_view name) {
    if (digits.size() <= behind) {
      return;
    }
    const std::string_view count = digits.substr(0, digits.size() - behind);
    if (count.find_first_not_of('0') != std::string_view::npos) {
      words += words.empty() ? "" : " ";
      words += cardinal_words(count, dialect) + std::string(name);
    }
    digits.remove_prefix(count.size());
  };
  take(kCrore, " crore");
  take(kLakh, " lakh");
  const bool more = digits.find_first_not_of('0') != std::string_view::npos;
  if (words.empty() || !more) {
    return words.empty() ? cardinal_words(digits, dialect) : words;
  }
  const bool joined = dialect == EnglishDialect::British && value_of(digits) < 100;
  return words + (joined ? " and " : " ") + cardinal_words(digits, dialect);
}

std::string to_ordinal(std::string words) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kIrregular = {
      {{"one", "first"},
       {"two", "second"},
       {"three", "third"},
       {"five", "fifth"},
       {"eight", "eighth"},
       {"nine", "ninth"},
       {"twelve", "twelfth"},
       {"zero", "zeroth"}}};
  const size_t last = words.find_last_of(" -") + 1;  // npos + 1 is 0
  const std::string_view tail = std::string_view(words).substr(last);
  for (const auto& [cardinal, ordinal] : kIrregular) {
    if (tail == cardinal) {
      return words.replace(last, std::string::npos, ordinal);
    }
  }
  if (words.ends_with('y')) {
    words.pop_back();
    return words + "ieth";
  }
  return words + "th";
}

std::string ordinal_words(std::string_view digits, EnglishDialect dialect) {
  return to_ordinal(cardinal_words(digits, dialect));
}

std::string to_plural(std::string words) {
  if (words.ends_with("six") || words.ends_with("ch") || words.ends_with('s')) {
    return words + "es";
  }
  if (words.ends_with('y')) {
    words.pop_back();
    return words + "ies";
  }
  if (words.ends_with("half")) {
    words.pop_back();
    return words + "ves";
  }
  return words + "s";
}

std::string digit_words(std::string_view digits) {
  std::string words;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0) {
      words += digits.size() > 10 && i % 4 == 0 ? ", " : " ";
    }
    words += kSmall[static_cast<size_t>(digits[i] - '0')];
  }
  return words;
}

std::string year_words(std::string_view digits, EnglishDialect dialect) {
  const unsigned year = value_of(digits);
  // The first decade of a millennium has no pairs: "two thousand seven".
  if (year % 1000 < 10 || digits.size() > 4) {
    return cardinal_words(digits, dialect);
  }
  return hundreds(year, dialect);
}

std::string pair_words(std::string_view digits, EnglishDialect dialect) {
  if (digits.size() > 4 || (digits.size() > 1 && digits[0] == '0')) {
    return digit_words(digits);
  }
  return hundreds(value_of(digits), dialect);
}

}  // namespace mynah
