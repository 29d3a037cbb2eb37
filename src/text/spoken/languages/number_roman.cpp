// Roman numerals: centuries, rulers, chapters.
#include "text/spoken/characters.h"
#include "text/spoken/languages/number_reader.h"
#include "text/spoken/roman.h"
#include "text/utf8.h"

namespace mynah {
namespace {

// Greater ones may be words or initialisms ("MIX", "CD", "DC").
constexpr unsigned kMostRoman = 89;

// Behind a capitalised word that is no ruler's name: "Apollo XIII", but "Generation XXL".
constexpr unsigned kMostAlone = 39;

// Words of a name: "mit Kaiser Franz Joseph II."
constexpr int kWordsOfName = 4;

bool starts_with_capital(std::string_view word) {
  return !word.empty() && is_capital(next_code_point(word).code_point);
}

size_t place_of(std::string_view text, std::string_view part) {
  return static_cast<size_t>(part.data() - text.data());
}

}  // namespace

// The numeral that begins at `at` and is whole, with the letters of an ordinal behind it.
std::optional<NumberReader::Roman> NumberReader::roman_at(size_t at) const {
  const std::string_view word = letters_at(text_, at);
  const size_t length = std::min(word.find_first_not_of("IVXLCDM"), word.size());
  const unsigned value = roman_value(word.substr(0, length));
  if (value == 0 || value > kMostRoman) {
    return std::nullopt;
  }
  Roman roman{.end = at + word.size(), .value = value, .suffix_form = {}, .alone = length == 1};
  if (length < word.size()) {
    const auto suffix = language_.roman.suffixes.find(word.substr(length));
    // "Le" and "Ce" are words.
    if (suffix == language_.roman.suffixes.end() || word[0] == 'L') {
      return std::nullopt;
    }
    roman.suffix_form = suffix->second;
  }
  return is_border(text_, roman.end) ? std::optional(roman) : std::nullopt;
}

// Where the first of several numerals begins: "siglos XIX y XX".
size_t NumberReader::roman_front(size_t at) const {
  const std::string_view joint = word_before(text_, at);
  if (!language_.roman.joints.contains(joint)) {
    return at;
  }
  const std::string_view numeral = word_before(text_, place_of(text_, joint));
  return roman_value(numeral) > 0 ? place_of(text_, numeral) : at;
}

// What the words before a numeral ask for.
std::string NumberReader::roman_form_before(size_t at, const Roman& numeral) const {
  const RomanWords& roman = language_.roman;
  // "vol. II"
  const size_t stop = text_.substr(0, at).ends_with(". ") ? 2 : 0;
  const std::string_view word = word_before(text_, at - stop);
  if (word.empty() || (stop > 0 && !roman.before.contains(folded(word)))) {
    return {};
  }
  const std::string small = folded(word);
  std::string form;
  if (const auto found = roman.before.find(small); found != roman.before.end()) {
    form = found->second;
  } else if (const auto name = roman.names.find(small);
             name != roman.names.end() && starts_with_capital(word)) {
    form = name->second;
    // "mit Kaiser Wilhelm II."
    size_t begin = place_of(text_, word);
    for (int words = 0; words < kWordsOfName; ++words) {
      const std::string_view before = word_before(text_, begin);
      const auto other = roman.after.find(folded(before) + " " + form);
      if (other != roman.after.end()) {
        return other->second;
      }
      if (!starts_with_capital(before)) {
        break;
      }
      begin = place_of(text_, before);
    }
  } else if (!numeral.alone && numeral.value <= kMostAlone && starts_with_capital(word) &&
             !language_.starters.contains(small) && word.size() > 2 &&
             word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") != std::string_view::npos) {
    form = "cardinal";
  }
  return form.empty() || numeral.value <= roman.most ? form : "cardinal";
}

// The form of numerals between `at` and the end of `last`, and how far what was read goes: a stop
// and a word cut short belong to them.
std::pair<std::string, size_t> NumberReader::roman_form(size_t at, const Roman& last,
                                                        bool range) const {
  const RomanWords& roman = language_.roman;
  const bool stopped = language_.roman_stop && text_.substr(last.end).starts_with(".");
  const size_t front = roman_front(at);
  const std::string_view name = word_before(text_, front);
  if (stopped && !(roman.names.contains(folded(name)) && starts_with_capital(name))) {
    if (std::string form = stopped_form(front, last.end); !form.empty()) {
      return {form, last.end + 1};
    }
  }
  size_t behind_at = last.end + (stopped ? 1 : 0);
  const std::string before = folded(name);
  bool several = range || front != at;
  // "XIX i XX wieku": the noun is behind the second.
  const std::string_view joint = word_behind(text_, behind_at);
  if (roman.joints.contains(joint)) {
    const size_t next = skip_spaces(text_, place_of(text_, joint) + joint.size());
    const std::string_view second = letters_at(text_, next);
    if (roman_value(second) > 0) {
      behind_at = next + second.size();
      several = true;
    }
  }
  const size_t gap = skip_spaces(text_, behind_at);
  if (const size_t length = longest_key(text_, gap, roman.shorts); length > 0) {
    const std::string sign(text_.substr(gap, length));
    auto noun = roman.shorts.find(before + " " + sign);
    noun = noun == roman.shorts.end() ? roman.shorts.find(sign) : noun;
    std::string form = by_ending(roman.behind, noun->second);
    if (const auto both = roman.range_behind.find(noun->second);
        several && both != roman.range_behind.end()) {
      form = both->second;
    } else if (const auto other = roman.after.find(before + " " + form);
               other != roman.after.end()) {
      form = other->second;
    }
    // The word is said once, behind the last: "XIX i XX w."
    return behind_at > last.end + (stopped ? 1 : 0)
               ? std::pair(form, last.end)
               : std::pair(form + "|" + noun->second, gap + length);
  }
  const std::string_view behind = word_behind(text_, behind_at);
  if (const auto both = roman.range_behind.find(folded(behind));
      several && both != roman.range_behind.end()) {
    return {both->second, last.end};
  }
  std::string form = form_before_noun(front, behind);
  if (form.empty()) {
    form = roman_form_before(front, last);
  }
  if (form.empty() && starts_with_capital(behind) && !is_all_capitals(behind) &&
      (!last.alone || stopped)) {
    form = by_ending(roman.behind_capital, behind);
  }
  const bool goes_on = text_.find_first_not_of(" )\"", last.end + 1) < text_.size();
  return {form, last.end + (stopped && goes_on && form != "cardinal" ? 1 : 0)};
}

// What a noun behind a numeral asks for, with the word before it: "w XIX wieku".
std::string NumberReader::form_before_noun(size_t at, std::string_view noun) const {
  std::string form = between_words(at, noun);
  if (form.empty()) {
    form = by_ending(language_.roman.behind, noun);
    const auto other = language_.roman.after.find(folded(word_before(text_, at)) + " " + form);
    form = other == language_.roman.after.end() || form.empty() ? form : other->second;
  }
  return form;
}

std::optional<std::string> NumberReader::say_roman(const Roman& numeral,
                                                   std::string_view form) const {
  if (form == "cardinal") {
    WrittenNumber number;
    number.value = numeral.value;
    return cardinal(number, "");
  }
  const size_t space = form.rfind(' ');
  auto words = ordinal(numeral.value, form.substr(space == std::string_view::npos ? 0 : space + 1));
  if (!words || space == std::string_view::npos) {
    return words;
  }
  return std::string(form.substr(0, space + 1)) + *words;
}

std::optional<SaidNumber> NumberReader::read_roman(size_t at) const {
  const auto first = roman_at(at);
  if (!first) {
    return std::nullopt;
  }
  if (!first->suffix_form.empty()) {
    const auto words = say_roman(*first, first->suffix_form);
    return words ? std::optional(SaidNumber{first->end, *words}) : std::nullopt;
  }
  // "XIX–XX"
  std::optional<Roman> second;
  for (const std::string_view mark : {"-", "\u2013", " \u2013 ", " - ", "/"}) {
    if (!second && text_.substr(first->end).starts_with(mark)) {
      second = roman_at(first->end + mark.size());
    }
  }
  const auto [form, end] = roman_form(at, second.value_or(*first), second.has_value());
  const size_t bar = std::min(form.find('|'), form.size());
  const auto words = say_roman(*first, std::string_view(form).substr(0, bar));
  const auto until = second ? say_roman(*second, std::string_view(form).substr(0, bar)) : words;
  if (!words || !until) {
    return std::nullopt;
  }
  std::string all = *words;
  if (second) {
    const std::string joint = sign("range");
    all += (joint.empty() ? "-" : " " + joint + " ") + *until;
  }
  all += bar < form.size() ? " " + form.substr(bar + 1) : "";
  // "Karl XII:s"
  const size_t length = longest_key(text_, end, language_.roman.endings);
  all += length > 0 ? language_.roman.endings.find(text_.substr(end, length))->second : "";
  // The stop of "жил в XIX в." is the sentence's, too.
  const bool last = length == 0 && end > 0 && text_[end - 1] == '.' &&
                    text_.find_first_not_of(" )\"", end) >= text_.size();
  return SaidNumber{last ? end - 1 : end + length, all};
}

}  // namespace mynah
