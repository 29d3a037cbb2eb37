// Amounts: numbers with units, currencies, millions, and ranges of them.
#include <algorithm>
#include <array>

#include "text/spoken/characters.h"
#include "text/spoken/languages/number_reader.h"
#include "text/utf8.h"

namespace mynah {
namespace {

constexpr uint64_t kMillion = 1'000'000;

bool begins_with_vowel(std::string_view word) {
  constexpr std::array<std::string_view, 8> kVowels = {"a", "e", "i", "o", "u", "é", "ê", "h"};
  for (const std::string_view vowel : kVowels) {
    if (word.starts_with(vowel)) {
      return true;
    }
  }
  return false;
}

bool is_letter_at(std::string_view text, size_t at) {
  return !letters_at(text, at).empty();
}

// "{0} Euro" and "zwei": "zwei Euro".
std::string fill(std::string_view form, std::string_view words) {
  std::string said(form);
  if (const size_t at = said.find("{0}"); at != std::string::npos) {
    said.replace(at, 3, words);
  }
  return said;
}

}  // namespace

const CurrencyWords* NumberReader::currency_of(std::string_view sign) const {
  const auto code = language_.currency_signs.find(sign);
  const auto found =
      language_.currencies.find(code == language_.currency_signs.end() ? sign : code->second);
  return found == language_.currencies.end() ? nullptr : &found->second;
}

// The unit, currency or count of millions behind a number. A letter of the alphabet is a unit where
// it touches the number or where no word follows.
void NumberReader::add_noun(Amount& amount) const {
  size_t at = skip_spaces(text_, amount.end);
  // "50 mil"
  constexpr uint64_t kThousand = 1000;
  if (const size_t length = longest_key(text_, at, language_.thousands);
      length > 0 && amount.number.is_whole() && amount.number.value < kThousand) {
    amount.number.value *= kThousand;
    amount.end = at + length;
    at = skip_spaces(text_, amount.end);
  }
  if (const size_t length = longest_key(text_, at, language_.magnitudes); length > 0) {
    amount.magnitude = &language_.magnitudes.find(text_.substr(at, length))->second;
    amount.end = at + length;
    at = skip_spaces(text_, amount.end);
    // "1 millón de $"
    const std::string of = language_.of + " ";
    if (!language_.of.empty() && text_.substr(at).starts_with(of) &&
        longest_key(text_, at + of.size(), language_.currency_signs) > 0) {
      at += of.size();
    }
  }
  size_t sign = longest_key(text_, at, language_.currency_signs);
  // "20 €5": the sign is the next amount's.
  sign = at > amount.end && !digits_at(text_, at + sign, 18).empty() ? 0 : sign;
  const size_t code = longest_key(text_, at, language_.currencies);
  const size_t unit = longest_key(text_, at, language_.units);
  if (unit > std::max(sign, code)) {
    const std::string_view name = text_.substr(at, unit);
    const bool letter = unit == next_code_point(name).bytes && is_letter_at(name, 0);
    const bool capital = letter && is_capital(next_code_point(name).code_point);
    const bool apart = at > amount.end;
    const bool hyphen =
        at + unit < text_.size() && text_[at + unit] == '-' && is_letter_at(name, 0);
    // "3 x 4" is a product.
    const size_t behind = skip_spaces(text_, at + unit);
    const bool product = name == "x" && behind < text_.size() && is_ascii_digit(text_[behind]);
    // "25 с" is seconds, "5 с половиной" a preposition.
    const bool preposition = apart && letter && language_.starters.contains(name);
    const bool goes_on = (capital && apart) || preposition;
    if (!(goes_on && !word_behind(text_, at + unit).empty()) && !hyphen && !product) {
      amount.noun = &language_.units.find(name)->second;
      amount.end = at + unit;
    }
  } else if (sign > 0 || code > 0) {
    const std::string_view name = text_.substr(at, std::max(sign, code));
    amount.currency = currency_of(name);
    if (amount.currency != nullptr) {
      amount.noun = &amount.currency->whole;
      amount.end = at + name.size();
    }
  }
}

std::optional<NumberReader::Amount> NumberReader::amount_at(size_t at) const {
  auto number = scan_number(text_, at, language_);
  if (!number) {
    return std::nullopt;
  }
  Amount amount;
  amount.number = std::move(*number);
  amount.end = amount.number.end;
  add_noun(amount);
  // "3D", "4x4", "5G": no amount, but what touches it as a hyphen does may be said apart.
  if (!is_border(text_, amount.end)) {
    return std::nullopt;
  }
  return amount;
}

// "de " or "d'" before what millions are of.
std::string NumberReader::of_before(std::string_view word) const {
  if (language_.of.empty()) {
    return {};
  }
  return begins_with_vowel(word) && !language_.of_vowel.empty() ? language_.of_vowel
                                                                : language_.of + " ";
}

std::string NumberReader::in_form(const CountedNoun& noun, const Amount& amount,
                                  const std::string& words) const {
  const WrittenNumber& number = amount.number;
  std::string_view plural = language_.plural(number.value, !number.fraction.empty());
  const bool millions = amount.magnitude != nullptr ||
                        (number.is_whole() && number.value > 0 && number.value % kMillion == 0);
  if (amount.noun_case == "genitive" && number.is_whole()) {
    // One has its singular, which is that of decimals, and others the plural, which is that of
    // five.
    constexpr uint64_t kMany = 5;
    plural = plural == "one" ? language_.plural(1, true) : language_.plural(kMany, false);
  }
  if (amount.magnitude != nullptr) {
    plural = language_.plural(kMillion, false);
  }
  auto form = noun.forms.find(plural);
  form = form == noun.forms.end() ? noun.forms.find("other") : form;
  if (form == noun.forms.end()) {
    return words;
  }
  std::string said = form->second;
  if (millions && said.starts_with("{0} ")) {
    said.insert(4, of_before(std::string_view(said).substr(4)));
  }
  return fill(said, words);
}

std::string NumberReader::in_case(std::string_view gender, std::string_view noun_case) {
  if (noun_case.empty()) {
    return std::string(gender);
  }
  return (gender.starts_with("feminine") ? "feminine-" : "masculine-") + std::string(noun_case);
}

// The case of an amount by the preposition before it and the ending of what it counts.
std::string_view NumberReader::case_at(size_t at, const Amount& amount) const {
  // "ok. 5": a stop between.
  const size_t stop = text_.substr(0, at).ends_with(". ") ? 2 : 0;
  const std::string before = folded(word_before(text_, at - stop));
  // "с. 5" is a page.
  const bool short_form = stop > 0 && next_code_point(before).bytes == before.size();
  return case_behind(short_form ? "" : before, amount);
}

std::string_view NumberReader::case_behind(std::string_view before, const Amount& amount) const {
  const bool sign = amount.noun != nullptr || amount.magnitude != nullptr;
  const std::string noun = sign ? "" : folded(word_behind(text_, amount.end));
  const bool one =
      amount.number.is_whole() && language_.plural(amount.number.value, false) == "one";
  for (const CaseRule& rule : language_.cases) {
    // An ending alone is of the plural: "1 dom" is no dative.
    const bool fits = rule.endings.empty() ||
                      (!(one && rule.before.empty()) &&
                       std::ranges::any_of(rule.endings, [&noun](const std::string& ending) {
                         return noun.ends_with(ending);
                       }));
    if (fits && amount.number.value <= rule.most &&
        (rule.before.empty() || rule.before.contains(before))) {
      return rule.name;
    }
  }
  return {};
}

std::optional<std::string> NumberReader::say_bare(const Amount& amount) const {
  const CountedNoun* const counted = amount.magnitude != nullptr ? amount.magnitude : amount.noun;
  const std::string_view gender =
      counted != nullptr ? std::string_view(counted->gender) : gender_behind(amount.number);
  auto words = cardinal(amount.number, in_case(gender, amount.noun_case));
  if (words && amount.magnitude != nullptr) {
    Amount alone;
    alone.number = amount.number;
    alone.noun_case = amount.noun_case;
    *words = in_form(*amount.magnitude, alone, *words);
  }
  return words;
}

// "12,50 €": whole ones and hundredths.
std::optional<std::string> NumberReader::say_money(const Amount& amount) const {
  const CountedNoun& part = amount.currency->part;
  Amount whole;
  whole.number = amount.number;
  whole.noun_case = amount.noun_case;
  whole.number.fraction.clear();
  whole.number.point = false;
  Amount cents;
  cents.noun_case = amount.noun_case;
  const auto digit = [&amount](size_t i) {
    return static_cast<uint64_t>(amount.number.fraction[i] - '0');
  };
  cents.number.value = digit(0) * 10 + digit(1);
  const auto first = cardinal(whole.number, in_case(amount.noun->gender, amount.noun_case));
  const auto second = cardinal(cents.number, in_case(part.gender, amount.noun_case));
  if (!first || !second) {
    return std::nullopt;
  }
  if (cents.number.value == 0) {
    return in_form(*amount.noun, whole, *first);
  }
  std::string named = in_form(part, cents, *second);
  if (whole.number.value == 0) {
    return named;
  }
  std::string said = in_form(*amount.noun, whole, *first) + " ";
  said += language_.cents_joint.empty() ? "" : language_.cents_joint + " ";
  return said + (language_.cents_named ? named : cardinal(cents.number, "").value_or(*second));
}

std::optional<std::string> NumberReader::say(const Amount& amount) const {
  if (amount.currency != nullptr && amount.magnitude == nullptr &&
      amount.number.fraction.size() == 2 && !amount.currency->part.forms.empty()) {
    return say_money(amount);
  }
  // "CHF 2,00" of a currency whose hundredths have no name here.
  if (amount.currency != nullptr && amount.magnitude == nullptr && amount.number.fraction == "00") {
    Amount whole = amount;
    whole.number.fraction.clear();
    whole.number.point = false;
    return say(whole);
  }
  const auto words = say_bare(amount);
  return words && amount.noun != nullptr ? in_form(*amount.noun, amount, *words) : words;
}

// Where the second number of "5-10" or "5 – 10" begins.
std::optional<size_t> NumberReader::range_at(size_t at) const {
  for (const std::string_view mark : {"-", "\u2013", " \u2013 ", " - "}) {
    if (text_.substr(at).starts_with(mark) && at + mark.size() < text_.size() &&
        is_ascii_digit(text_[at + mark.size()])) {
      return at + mark.size();
    }
  }
  return std::nullopt;
}

// "3-1", "0–0": no range, as the second is no greater; "15:21" may rise.
std::optional<SaidNumber> NumberReader::read_score(const Amount& first, Amount second,
                                                   bool falling) const {
  constexpr size_t kMostDigits = 2;
  const auto plain = [](const Amount& amount) {
    return amount.noun == nullptr && amount.magnitude == nullptr && amount.number.is_whole() &&
           amount.number.digits.size() <= kMostDigits;
  };
  if (!plain(first) || !plain(second) || (falling && second.number.value > first.number.value) ||
      range_at(second.end) || text_.substr(skip_spaces(text_, second.end)).starts_with("=")) {
    return std::nullopt;
  }
  const std::string joint = sign(language_.signs.contains("score") ? "score" : ":");
  second.noun_case = case_behind(joint, second);
  const auto begin = cardinal(first.number, "");
  const auto end = cardinal(second.number, in_case("", second.noun_case));
  return begin && end ? std::optional(SaidNumber{
                            second.end, *begin + (joint.empty() ? " " : " " + joint + " ") + *end})
                      : std::nullopt;
}

// "€/Monat", "€/kg": what an amount is for.
std::string NumberReader::read_per(size_t& end) const {
  const std::string per = sign("per");
  if (per.empty() || !text_.substr(end).starts_with("/")) {
    return {};
  }
  const size_t at = end + 1;
  if (const size_t length = longest_key(text_, at, language_.units); length > 0) {
    end = at + length;
    Amount one;
    one.number.value = 1;
    std::string noun = in_form(language_.units.find(text_.substr(at, length))->second, one, "");
    noun.erase(0, noun.find_first_not_of(' '));
    return " " + per + " " + noun;
  }
  const std::string_view word = letters_at(text_, at);
  constexpr size_t kShortest = 3;
  if (word.size() < kShortest) {
    return {};
  }
  end = at + word.size();
  return " " + per + " " + std::string(word);
}

// "2023/24", "1999/2000": a season; "24/7", "50/50".
std::optional<SaidNumber> NumberReader::read_pair(size_t at) const {
  const std::string_view first = digits_at(text_, at, 4);
  const size_t slash = at + first.size();
  const std::string_view second = digits_at(text_, slash + 1, 4);
  // "3x1" is a result in Brazil.
  if (const std::string joint = sign("x");
      !joint.empty() && first.size() < 3 && !second.empty() && second.size() < 3 &&
      !first.empty() && text_[slash] == 'x' && is_border(text_, slash + 1 + second.size())) {
    const auto one = scan_number(first, 0, language_);
    const auto two = scan_number(second, 0, language_);
    const auto begin = one ? cardinal(*one, "") : std::nullopt;
    const auto end = two ? cardinal(*two, "") : std::nullopt;
    return begin && end ? std::optional(SaidNumber{slash + 1 + second.size(),
                                                   *begin + " " + joint + " " + *end})
                        : std::nullopt;
  }
  if (first.empty() || second.empty() || !text_.substr(slash).starts_with("/") ||
      !is_border(text_, slash + 1 + second.size()) ||
      text_.substr(slash + 1 + second.size()).starts_with("/")) {
    return std::nullopt;
  }
  const auto one = scan_number(first, 0, language_);
  const auto two = scan_number(second, 0, language_);
  constexpr uint64_t kHundred = 100;
  const bool season = one && two && first.size() == 4 &&
                      (second.size() == 4 || second.size() == 2) &&
                      (one->value + 1) % kHundred == two->value % kHundred &&
                      (second.size() == 2 || one->value + 1 == two->value);
  const bool known = (first == "24" && second == "7") || (first == "50" && second == "50");
  if (!season && !known) {
    return std::nullopt;
  }
  const auto begin = season ? year_words(one->value) : cardinal(*one, "");
  const auto end = season && second.size() == 4 ? year_words(two->value) : cardinal(*two, "");
  return begin && end ? std::optional(SaidNumber{slash + 1 + second.size(), *begin + " " + *end})
                      : std::nullopt;
}

std::optional<SaidNumber> NumberReader::read_amount(size_t at) const {
  if (auto pair = read_pair(at)) {
    return pair;
  }
  auto first = amount_at(at);
  // "1/2" is for the voice.
  const auto is_slash = [&](size_t end) {
    return text_.substr(end).starts_with("/") && !digits_at(text_, end + 1, 18).empty();
  };
  if (!first || is_slash(first->number.end)) {
    return std::nullopt;
  }
  first->noun_case = case_at(at, *first);
  // "1985 г." is a year and no gram.
  if (longest_key(text_, skip_spaces(text_, first->number.end), language_.year_short) > 0) {
    if (auto year = read_year(first->number, at)) {
      return year;
    }
  }
  if (const auto next = range_at(first->end)) {
    auto second = amount_at(*next);
    if (second) {
      second->noun_case = case_at(at, *second);
      first->noun_case = second->noun_case;
    }
    // "555-1234" is no range, nor "3-1".
    const size_t lengths = second ? second->number.digits.size() - first->number.digits.size() : 0;
    const bool phone =
        first->number.digits.size() == 3 && lengths == 1 && second->number.digits.back() != '0';
    if (second && first->noun == nullptr && second->noun == nullptr) {
      if (auto years = read_years(first->number, second->number, at)) {
        return years;
      }
    }
    if (second && !phone && first->currency == nullptr &&
        second->number.value > first->number.value && !range_at(second->end)) {
      const bool years = first->number.digits.size() == 4 && second->number.digits.size() == 4 &&
                         first->noun == nullptr && second->noun == nullptr;
      const auto begin = years ? year_words(first->number.value)
                         : first->noun != nullptr
                             ? say(*first)
                             : cardinal(first->number, in_case("", first->noun_case));
      const std::string joint = sign("range");
      if (first->noun_case.empty()) {
        second->noun_case = case_behind(joint, *second);
      }
      const auto end = years ? year_words(second->number.value) : say(*second);
      if (begin && end) {
        return SaidNumber{second->end, *begin + (joint.empty() ? "-" : " " + joint + " ") + *end};
      }
    }
    return second ? read_score(*first, *second, true) : std::nullopt;
  }
  // "16:9", "3 × 4"
  for (const std::string_view mark : {":", "\u00D7", " \u00D7 ", " x "}) {
    const size_t next = first->end + mark.size();
    if (first->noun == nullptr && text_.substr(first->end).starts_with(mark) &&
        next < text_.size() && is_ascii_digit(text_[next])) {
      auto second = amount_at(next);
      if (mark == ":" && second && is_score_at(at)) {
        return read_score(*first, *second, false);
      }
      const std::string joint = sign(mark == ":" ? ":" : "\u00D7");
      if (second) {
        second->noun_case = case_behind(joint, *second);
      }
      const auto begin = say(*first);
      const auto end = second ? say(*second) : std::nullopt;
      if (!begin || !end || joint.empty()) {
        return std::nullopt;
      }
      return SaidNumber{second->end, *begin + " " + joint + " " + *end};
    }
  }
  if (first->noun == nullptr && first->magnitude == nullptr) {
    if (auto year = read_year(first->number, at)) {
      return year;
    }
  }
  auto words = say_height(*first, at);
  words = words ? words : say(*first);
  if (!words) {
    return std::nullopt;
  }
  if (first->noun != nullptr) {
    *words += read_per(first->end);
  }
  // "1 000 000 habitants"
  const std::string_view counted = word_behind(text_, first->end);
  if (first->noun == nullptr && first->magnitude == nullptr && first->number.value > 0 &&
      first->number.is_whole() && first->number.value % kMillion == 0 && !counted.empty() &&
      counted != language_.of &&
      language_.of_endings.contains(folded(counted).substr(folded(counted).size() - 1))) {
    const std::string of = of_before(counted);
    const bool joins = of == language_.of_vowel;  // "d'habitants" is one word
    *words += " " + (joins ? of + std::string(counted) : language_.of);
    first->end = joins ? skip_spaces(text_, first->end) + counted.size() : first->end;
  }
  return SaidNumber{first->end, *words};
}

// "€ 5", "$3.50", "CHF 20", "%20"
std::optional<SaidNumber> NumberReader::read_currency_first(size_t at) const {
  if (const auto percent = language_.units.find("%");
      percent != language_.units.end() && text_[at] == '%' && is_border_before(text_, at)) {
    auto amount = amount_at(at + 1);
    if (!amount || amount->noun != nullptr) {
      return std::nullopt;
    }
    amount->noun = &percent->second;
    const auto words = say(*amount);
    return words ? std::optional(SaidNumber{amount->end, *words}) : std::nullopt;
  }
  size_t length = 0;
  constexpr size_t kLongestSign = 12;
  for (size_t size = std::min(kLongestSign, text_.size() - at); size > 0 && length == 0; --size) {
    length = currency_of(text_.substr(at, size)) != nullptr ? size : 0;
  }
  if (length == 0 || !is_border_before(text_, at)) {
    return std::nullopt;
  }
  const size_t next = skip_spaces(text_, at + length);
  if (next >= text_.size() || !is_ascii_digit(text_[next])) {
    return std::nullopt;
  }
  auto amount = amount_at(next);
  if (!amount || amount->noun != nullptr) {
    return std::nullopt;
  }
  // "$3.50" keeps the point of those who write so.
  amount->number.point = amount->number.point && amount->number.fraction.size() != 2;
  amount->currency = currency_of(text_.substr(at, length));
  amount->noun = &amount->currency->whole;
  auto words = say(*amount);
  if (words) {
    *words += read_per(amount->end);
  }
  return words ? std::optional(SaidNumber{amount->end, *words}) : std::nullopt;
}

}  // namespace mynah
