#include "text/spoken/languages/number_reader.h"

#include <algorithm>

#include "text/spoken/characters.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {
namespace {

bool starts_with_at(std::string_view text, size_t at, std::string_view what) {
  return text.substr(std::min(at, text.size())).starts_with(what);
}

}  // namespace

std::string NumberReader::sign(std::string_view name) const {
  const auto found = language_.signs.find(name);
  return found == language_.signs.end() ? "" : found->second;
}

std::string NumberReader::by_ending(const EndingRules& rules, std::string_view word) {
  if (word.empty()) {
    return {};
  }
  const std::string small = folded(word);
  if (const auto found = rules.words.find(small); found != rules.words.end()) {
    return found->second;
  }
  for (const auto& [ending, value] : rules.endings) {
    if (small.size() > ending.size() && small.ends_with(ending)) {
      return value;
    }
  }
  return {};
}

std::optional<std::string> NumberReader::cardinal(const WrittenNumber& number,
                                                  std::string_view gender) const {
  auto set = language_.cardinals.find(gender);
  set = set == language_.cardinals.end() || (language_.only_one_has_gender && number.value != 1)
            ? language_.cardinals.find("")
            : set;
  if (set == language_.cardinals.end()) {
    return std::nullopt;
  }
  if (number.is_whole()) {
    return language_.rules->words(number.value, set->second);
  }
  const auto& counting = language_.cardinals.find("")->second;
  if (!number.point) {
    const bool in_case = language_.decimal_cases && gender.contains('-');
    return language_.rules->decimal(number.value, number.fraction, in_case ? set->second : counting,
                                    language_.decimal[0]);
  }
  // "3.5" where decimals have a comma is two numbers with a point between, of a version mostly.
  const auto whole = language_.rules->words(number.value, counting);
  std::string all = whole.value_or("") + " " + sign(".");
  for (const char digit : number.fraction) {
    const auto word = language_.rules->words(static_cast<uint64_t>(digit - '0'), counting);
    all += " " + word.value_or("");
  }
  return whole ? std::optional(all) : std::nullopt;
}

std::optional<std::string> NumberReader::ordinal(uint64_t number, std::string_view form) const {
  const auto found = language_.ordinals.find(form);
  if (found == language_.ordinals.end()) {
    return std::nullopt;
  }
  auto words = language_.rules->words(number, found->second.set);
  if (!words) {
    return std::nullopt;
  }
  for (const auto& [stem, ending] : found->second.endings) {
    for (size_t at = words->find(stem); at != std::string::npos; at = words->find(stem, at)) {
      words->replace(at, stem.size(), ending);
      at += ending.size();
    }
  }
  return words;
}

// The gender of what a number counts, by the word behind it: "1 книга", "2 книги".
std::string_view NumberReader::gender_behind(const WrittenNumber& number) const {
  const std::string_view word = word_behind(text_, number.end);
  std::string found;
  if (!language_.genders_of_one.endings.empty() && number.is_whole() &&
      language_.plural(number.value, false) == "one") {
    found = by_ending(language_.genders_of_one, word);
  }
  found = found.empty() ? by_ending(language_.genders, word) : found;
  for (const auto& [gender, set] : language_.cardinals) {
    if (gender == found) {
      return gender;
    }
  }
  return "";
}

// Words before a number, the last two or the last.
WordMap::const_iterator NumberReader::find_before(const WordMap& map, size_t at) const {
  const std::string_view last = word_before(text_, at);
  if (!last.empty()) {
    const auto begin = static_cast<size_t>(last.data() - text_.data());
    const auto two = map.find(folded(word_before(text_, begin)) + " " + folded(last));
    if (two != map.end()) {
      return two;
    }
  }
  return map.find(folded(last));
}

// Whether a ring is a degree and no ordinal's letter: "20°C", "fa 20°", but "1° posto".
bool NumberReader::is_degree_at(size_t behind) const {
  constexpr size_t kShortest = 3;
  return word_behind(text_, behind).size() < kShortest;
}

// "1er", "3-го", "2.º", "3'üncü"
std::optional<SaidNumber> NumberReader::read_ordinal(size_t at) const {
  const std::string_view digits = digits_at(text_, at, 6);
  if (digits.empty()) {
    return std::nullopt;
  }
  const auto number = scan_number(digits, 0, language_);
  const size_t end = at + digits.size();
  const size_t length = longest_key(text_, end, language_.ordinal_suffixes);
  if (!number || length == 0) {
    return std::nullopt;
  }
  auto suffix = language_.ordinal_suffixes.find(text_.substr(end, length));
  // "20-е и 30-е годы" are decades, "20-е место" is one.
  if (digits.ends_with('0') &&
      by_ending(language_.genders_of_one, word_behind(text_, end + length)) != "neuter") {
    const auto tens = language_.ordinal_suffixes.find("0" + suffix->first);
    suffix = tens == language_.ordinal_suffixes.end() ? suffix : tens;
  }
  // "dal 1° al 5": there is no degree of one.
  const bool first =
      digits == "1" && letters_at(text_, skip_spaces(text_, end + length)).size() > 1;
  if ((suffix->first == "°" && !first && is_degree_at(end + length)) ||
      !is_border(text_, end + length)) {
    return std::nullopt;
  }
  // "=second": the word itself.
  if (suffix->second.starts_with('=')) {
    constexpr uint64_t kSecond = 2;
    return number->value == kSecond
               ? std::optional(SaidNumber{end + length, suffix->second.substr(1)})
               : std::nullopt;
  }
  // "о 9-й годині"
  if (const auto hour = language_.hour_nouns.find(word_behind(text_, end + length));
      hour != language_.hour_nouns.end() && text_.substr(end, length) == "-й") {
    const auto words = ordinal(number->value, hour->second);
    return words ? std::optional(SaidNumber{end + length, *words}) : std::nullopt;
  }
  // "masculine+ü": letters of the suffix that stay.
  const size_t plus = std::min(suffix->second.find('+'), suffix->second.size());
  auto words = ordinal(number->value, suffix->second.substr(0, plus));
  if (!words) {
    return std::nullopt;
  }
  *words += suffix->second.substr(std::min(plus + 1, suffix->second.size()));
  return SaidNumber{end + length, *words};
}

// The form that the words before and behind ask for: "v 19. století". Empty: they ask for none.
std::string NumberReader::between_words(size_t at, std::string_view behind) const {
  const std::string before = folded(word_before(text_, at));
  auto found = language_.ordinal_after.find(before + " " + folded(behind));
  if (found == language_.ordinal_after.end() && !before.empty()) {
    found = language_.ordinal_after.find("* " + folded(behind));
  }
  return found == language_.ordinal_after.end() ? "" : found->second;
}

// Whether "Nr." or its like stands before: what it numbers is no ordinal.
bool NumberReader::is_numbered_at(size_t at) const {
  const std::string_view before = text_.substr(0, at);
  return before.ends_with(". ") &&
         std::ranges::any_of(language_.before, [before](const auto& form) {
           return before.substr(0, before.size() - 1).ends_with(form.first);
         });
}

// The form of an ordinal that begins at `at` and whose stop is at `stop`, by its neighbours; empty:
// it may be none.
std::string NumberReader::stopped_form(size_t at, size_t stop) const {
  std::string_view behind = word_behind(text_, stop + 1);
  if (behind.empty() || !starts_with_at(text_, stop, ". ") || is_numbered_at(at)) {
    return {};
  }
  // "19. a 20. století": the noun is behind the second.
  if (language_.roman.joints.contains(behind)) {
    const size_t next =
        skip_spaces(text_, static_cast<size_t>(behind.data() - text_.data()) + behind.size());
    const std::string_view second = digits_at(text_, next, 3);
    const size_t second_stop = next + second.size();
    if (!second.empty() && starts_with_at(text_, second_stop, ". ")) {
      const std::string_view noun = word_behind(text_, second_stop + 1);
      behind = noun.empty() ? behind : noun;
    }
  }
  if (std::string form = between_words(at, behind); !form.empty()) {
    return form;
  }
  const auto before = find_before(language_.ordinal_before, at);
  if (before != language_.ordinal_before.end()) {
    return before->second;
  }
  std::string form = by_ending(language_.ordinal_behind, behind);
  form = form.empty() ? language_.ordinal_default : form;
  // A capital begins a sentence, or a noun of the list.
  const bool small = is_lower_case(next_code_point(behind).code_point);
  if (small || language_.ordinal_behind.words.contains(folded(behind)) ||
      (language_.ordinal_capital && !language_.starters.contains(folded(behind)))) {
    return form;
  }
  // "Beethovens 9. Sinfonie": nouns have capitals, too.
  const std::string_view owner = word_before(text_, at);
  const bool owned = language_.capital_nouns && owner.ends_with('s') &&
                     is_capital(next_code_point(owner).code_point) &&
                     !by_ending(language_.genders, behind).empty();
  return owned ? language_.ordinals.begin()->first : "";
}

// "3." before what it counts: "am 3. Mai", "der 3. Mann", "3. místo".
std::optional<SaidNumber> NumberReader::read_stopped(size_t at) const {
  const std::string_view digits = digits_at(text_, at, 3);
  const size_t stop = at + digits.size();
  if (!language_.ordinal_stop || digits.empty() || digits[0] == '0' ||
      !starts_with_at(text_, stop, ".")) {
    return std::nullopt;
  }
  if (const auto decade = language_.decade_before.find(folded(word_before(text_, at)));
      decade != language_.decade_before.end()) {
    // The stop of "w latach 90." may end the sentence, too: then it stays.
    const auto number = scan_number(digits, 0, language_);
    const auto words = number ? ordinal(number->value, decade->second) : std::nullopt;
    const std::string_view next = word_behind(text_, stop + 1);
    const bool goes_on = starts_with_at(text_, stop + 1, ",") ||
                         (!next.empty() && is_lower_case(next_code_point(next).code_point));
    return words ? std::optional(SaidNumber{goes_on ? stop + 1 : stop, *words}) : std::nullopt;
  }
  const std::string form = stopped_form(at, stop);
  const auto number = scan_number(digits, 0, language_);
  const auto words = number ? ordinal(number->value, form) : std::nullopt;
  return words ? std::optional(SaidNumber{stop + 1, *words}) : std::nullopt;
}

// "8-летний", "25letý": a word that begins with a number.
std::optional<SaidNumber> NumberReader::read_compound(const WrittenNumber& number) const {
  constexpr size_t kShortest = 4;
  constexpr uint64_t kMost = 1'000'000;
  const size_t begin = number.end + (starts_with_at(text_, number.end, "-") ? 1 : 0);
  const std::string_view word = letters_at(text_, begin);
  if (language_.compound_set.empty() || !number.is_whole() || number.grouped ||
      number.value >= kMost || to_code_points(word).size() < kShortest ||
      !is_lower_case(next_code_point(word).code_point)) {
    return std::nullopt;
  }
  const auto words = language_.rules->words(number.value, language_.compound_set);
  return words ? std::optional(SaidNumber{begin + word.size(), *words + std::string(word)})
               : std::nullopt;
}

// "90er", "15'te": the number's words with the letters behind it.
std::optional<SaidNumber> NumberReader::read_suffixed(size_t at) const {
  const auto number = scan_number(text_, at, language_);
  if (!number) {
    return std::nullopt;
  }
  const size_t length = longest_key(text_, number->end, language_.number_suffixes);
  if (length == 0) {
    return read_compound(*number);
  }
  const auto words = number->is_whole() && !number->grouped && number->digits.size() == 4
                         ? year_words(number->value)
                         : cardinal(*number, "");
  return words ? std::optional(SaidNumber{
                     number->end + length,
                     *words +
                         language_.number_suffixes.find(text_.substr(number->end, length))->second})
               : std::nullopt;
}

// "-5", "±3", "Nr. 7"
std::optional<SaidNumber> NumberReader::read_signed(size_t at) const {
  if (const size_t length = longest_key(text_, at, language_.before);
      length > 0 && is_border_before(text_, at)) {
    const size_t next = skip_spaces(text_, at + length);
    if (next < text_.size() && is_ascii_digit(text_[next])) {
      const std::string words = language_.before.find(text_.substr(at, length))->second;
      return SaidNumber{next, words};
    }
  }
  for (const std::string_view mark : {"\u2212", "-", "\u2013", "+", "\u00B1", "~", "\u2248"}) {
    if (!starts_with_at(text_, at, mark)) {
      continue;
    }
    const size_t next = at + mark.size();
    const bool apart = at == 0 || text_[at - 1] == ' ' || text_[at - 1] == '(';
    if (!apart || next >= text_.size() || !is_ascii_digit(text_[next])) {
      return std::nullopt;
    }
    const auto amount = read_amount(next);
    const std::string word = sign(mark == "-" || mark == "\u2013" ? "\u2212" : mark);
    if (!amount || word.empty()) {
      return std::nullopt;
    }
    return SaidNumber{amount->end, word + " " + amount->words};
  }
  return std::nullopt;
}

std::optional<SaidNumber> NumberReader::read(size_t at) const {
  auto said = at < text_.size() ? read_alone(at) : std::nullopt;
  if (said && language_.apostrophe_suffixes && starts_with_at(text_, said->end, "'")) {
    const std::string_view suffix = letters_at(text_, said->end + 1);
    said->words += suffix;
    said->end += suffix.empty() ? 0 : suffix.size() + 1;
  }
  // The stop of "Цена 5 тыс. руб." is the sentence's, too; a bare amount is no sentence.
  if (said && said->end > at + 1 && text_[said->end - 1] == '.' &&
      is_capital(next_code_point(text_).code_point) &&
      text_.find_first_not_of(' ', said->end) == std::string_view::npos) {
    --said->end;
  }
  return said;
}

std::optional<SaidNumber> NumberReader::read_alone(size_t at) const {
  if (!is_ascii_digit(text_[at])) {
    std::optional<SaidNumber> said = text_[at] == '+' ? read_digits(at) : std::nullopt;
    said = said ? said : read_fraction(at);
    said = said ? said : read_currency_first(at);
    return said ? said : read_signed(at);
  }
  using Read = std::optional<SaidNumber> (NumberReader::*)(size_t) const;
  for (const Read reading :
       {&NumberReader::read_fraction, &NumberReader::read_date, &NumberReader::read_time,
        &NumberReader::read_ordinal, &NumberReader::read_stopped, &NumberReader::read_digits,
        &NumberReader::read_suffixed, &NumberReader::read_amount}) {
    if (auto said = (this->*reading)(at)) {
      return said;
    }
  }
  return std::nullopt;
}

}  // namespace mynah
