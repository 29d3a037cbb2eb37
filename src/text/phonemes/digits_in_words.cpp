#include "text/phonemes/digits_in_words.h"

#include <algorithm>
#include <array>
#include <string>

namespace mynah {
namespace {

using Words = std::vector<NumberWord>;

constexpr std::array<std::u32string_view, 20> kOnes = {
    U"zero",     U"one",     U"two",     U"three",     U"four",     U"five",    U"six",
    U"seven",    U"eight",   U"nine",    U"ten",       U"eleven",   U"twelve",  U"thirteen",
    U"fourteen", U"fifteen", U"sixteen", U"seventeen", U"eighteen", U"nineteen"};
constexpr std::array<std::u32string_view, 10> kTens = {
    U"", U"", U"twenty", U"thirty", U"forty", U"fifty", U"sixty", U"seventy", U"eighty", U"ninety"};
constexpr std::array<std::u32string_view, 12> kScales = {
    U"",           U"thousand",    U"million",     U"billion",
    U"trillion",   U"quadrillion", U"quintillion", U"sextillion",
    U"septillion", U"octillion",   U"nonillion",   U"decillion"};
// Of every cardinal word its ordinal.
constexpr std::array<std::array<std::u32string_view, 2>, 40> kOrdinals = {{
    {U"zero", U"zeroth"},
    {U"one", U"first"},
    {U"two", U"second"},
    {U"three", U"third"},
    {U"four", U"fourth"},
    {U"five", U"fifth"},
    {U"six", U"sixth"},
    {U"seven", U"seventh"},
    {U"eight", U"eighth"},
    {U"nine", U"ninth"},
    {U"ten", U"tenth"},
    {U"eleven", U"eleventh"},
    {U"twelve", U"twelfth"},
    {U"thirteen", U"thirteenth"},
    {U"fourteen", U"fourteenth"},
    {U"fifteen", U"fifteenth"},
    {U"sixteen", U"sixteenth"},
    {U"seventeen", U"seventeenth"},
    {U"eighteen", U"eighteenth"},
    {U"nineteen", U"nineteenth"},
    {U"twenty", U"twentieth"},
    {U"thirty", U"thirtieth"},
    {U"forty", U"fortieth"},
    {U"fifty", U"fiftieth"},
    {U"sixty", U"sixtieth"},
    {U"seventy", U"seventieth"},
    {U"eighty", U"eightieth"},
    {U"ninety", U"ninetieth"},
    {U"hundred", U"hundredth"},
    {U"thousand", U"thousandth"},
    {U"million", U"millionth"},
    {U"billion", U"billionth"},
    {U"trillion", U"trillionth"},
    {U"quadrillion", U"quadrillionth"},
    {U"quintillion", U"quintillionth"},
    {U"sextillion", U"sextillionth"},
    {U"septillion", U"septillionth"},
    {U"octillion", U"octillionth"},
    {U"nonillion", U"nonillionth"},
    {U"decillion", U"decillionth"},
}};

void say(Words& words, std::u32string_view word) {
  words.push_back({.word = word});
}

void say_digits(Words& words, std::u32string_view digits) {
  for (const char32_t digit : digits) {
    say(words, kOnes[digit - U'0']);
  }
}

void say_below_thousand(Words& words, size_t n) {
  if (n >= 100) {
    say(words, kOnes[n / 100]);
    say(words, U"hundred");
    n %= 100;
  }
  if (n >= 20) {
    say(words, kTens[n / 10]);
    n %= 10;
  }
  if (n > 0) {
    say(words, kOnes[n]);
  }
}

size_t value_of(std::u32string_view digits) {
  size_t value = 0;
  for (const char32_t digit : digits) {
    value = 10 * value + (digit - U'0');
  }
  return value;
}

// A number that has no name here is said digit by digit.
void say_cardinal(Words& words, std::u32string_view digits) {
  digits.remove_prefix(std::min(digits.find_first_not_of(U'0'), digits.size()));
  if (digits.empty()) {
    say(words, kOnes[0]);
    return;
  }
  if (digits.size() > 3 * kScales.size()) {
    say_digits(words, digits);
    return;
  }
  while (!digits.empty()) {
    const size_t scale = (digits.size() - 1) / 3;
    const size_t group = digits.size() - 3 * scale;
    const size_t value = value_of(digits.substr(0, group));
    if (value > 0) {
      say_below_thousand(words, value);
      if (scale > 0) {
        say(words, kScales[scale]);
      }
    }
    digits.remove_prefix(group);
  }
}

void say_ordinal(Words& words, std::u32string_view digits) {
  say_cardinal(words, digits);
  std::u32string_view& last = words.back().word;
  const auto found = std::ranges::find(kOrdinals, last, [](const auto& pair) { return pair[0]; });
  last = (*found)[1];
}

// Four digits: nineteen eighty-four, nineteen oh five, nineteen hundred, two thousand and five.
void say_year(Words& words, std::u32string_view digits) {
  const size_t high = value_of(digits.substr(0, 2));
  const size_t low = value_of(digits.substr(2));
  if (high == 0 || (high % 10 == 0 && low < 10)) {
    say_cardinal(words, digits);
    return;
  }
  say_cardinal(words, digits.substr(0, 2));
  if (low == 0) {
    say(words, U"hundred");
    return;
  }
  if (low < 10) {
    say(words, U"oh");
  }
  say_cardinal(words, digits.substr(2));
}

// Inside a word: 3, 42, three digits as one and two, more of them one by one.
void say_inside_word(Words& words, std::u32string_view digits) {
  if (digits[0] == U'0' || digits.size() > 3) {
    say_digits(words, digits);
  } else if (digits.size() == 3 && !digits.ends_with(U"00")) {
    say_cardinal(words, digits.substr(0, 1));
    if (digits[1] == U'0') {
      words.push_back({.word = U"O", .form = NumberWord::Form::Unstressed});
      say_cardinal(words, digits.substr(2));
    } else {
      say_cardinal(words, digits.substr(1));
    }
  } else {
    say_cardinal(words, digits);
  }
}

// A version, an address of the network: each part between dots for itself.
void say_dotted(Words& words, std::u32string_view number) {
  while (!number.empty()) {
    const size_t dot = std::min(number.find(U'.'), number.size());
    const std::u32string_view part = number.substr(0, dot);
    if (!part.empty()) {
      const bool plain = part[0] != U'0' &&
                         (part.size() == 2 || part.substr(1).find_first_not_of(U'0') == part.npos);
      if (plain) {
        say_cardinal(words, part);
      } else {
        say_digits(words, part);
      }
    }
    number.remove_prefix(std::min(dot + 1, number.size()));
  }
}

struct Currency {
  char32_t sign = U'\0';
  std::u32string_view unit;
  std::u32string_view cent;
  bool cents_have_plural = true;
};

constexpr std::array<Currency, 3> kCurrencies = {
    {{.sign = U'$', .unit = U"dollar", .cent = U"cent"},
     {.sign = U'£', .unit = U"pound", .cent = U"pence", .cents_have_plural = false},
     {.sign = U'€', .unit = U"euro", .cent = U"cent"}}};

void say_amount(Words& words, std::u32string_view digits, std::u32string_view unit, bool plural) {
  say_cardinal(words, digits);
  const bool one = digits.ends_with(U'1') && digits.find_first_not_of(U'0') + 1 == digits.size();
  words.push_back(
      {.word = unit, .form = one || !plural ? NumberWord::Form::Plain : NumberWord::Form::Plural});
}

void say_money(Words& words, std::u32string_view number, const Currency& currency) {
  const size_t dot = std::min(number.find(U'.'), number.size());
  const std::u32string_view whole = number.substr(0, dot);
  const std::u32string_view cents = number.substr(std::min(dot + 1, number.size()));
  const auto is_nothing = [](std::u32string_view digits) {
    return digits.find_first_not_of(U'0') == std::u32string_view::npos;
  };
  if (is_nothing(cents)) {
    say_amount(words, whole, currency.unit, true);
    return;
  }
  if (!is_nothing(whole)) {
    say_amount(words, whole, currency.unit, true);
    say(words, U"and");
  }
  say_amount(words, cents, currency.cent, currency.cents_have_plural);
}

void say_decimal(Words& words, std::u32string_view number) {
  const size_t dot = number.find(U'.');
  std::u32string_view fraction = number.substr(dot + 1);
  if (dot > 0) {
    fraction = fraction.substr(0, fraction.find_last_not_of(U'0') + 1);
    say_cardinal(words, number.substr(0, dot));
  }
  if (!fraction.empty()) {
    words.push_back({.word = U"point", .form = NumberWord::Form::Unstressed});
    say_digits(words, fraction);
  }
}

}  // namespace

std::u32string_view unit_of_currency(char32_t sign) {
  const auto found = std::ranges::find(kCurrencies, sign, &Currency::sign);
  return found == kCurrencies.end() ? std::u32string_view() : found->unit;
}

std::vector<NumberWord> words_of_digits(std::u32string_view number, bool ordinal,
                                        const NumberContext& context) {
  Words words;
  if (number.starts_with(U'-')) {
    say(words, U"minus");
    number.remove_prefix(1);
  }
  const bool plain = number.find_first_of(U".,") == std::u32string_view::npos;
  std::u32string digits(number);
  std::erase(digits, U',');
  if (digits.find_first_not_of(U'.') == std::u32string::npos) {
    return {};
  }
  const auto points = std::ranges::count(digits, U'.');
  const auto currency = std::ranges::find(kCurrencies, context.currency, &Currency::sign);
  const size_t cents = points == 1 ? number.size() - number.find(U'.') - 1 : 0;
  // Money with commas has no ordinal.
  const bool ordinal_alone =
      plain || (context.begins_word && points == 0 && currency == kCurrencies.end());
  if (ordinal && ordinal_alone) {
    say_ordinal(words, digits);
  } else if (plain && words.empty() && digits.size() == 4 && currency == kCurrencies.end()) {
    say_year(words, digits);
  } else if (points > 1 || (!context.begins_word && points == 1)) {
    say_dotted(words, digits);
  } else if (!context.begins_word) {
    say_inside_word(words, digits);
  } else if (currency != kCurrencies.end() && cents < 3) {
    say_money(words, digits, *currency);
  } else if (points == 1) {
    say_decimal(words, digits);
  } else {
    say_cardinal(words, digits);
  }
  return words;
}

}  // namespace mynah
