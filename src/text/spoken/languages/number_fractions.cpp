// Halves, thirds and quarters: "½ Liter", "1½ Stunden", "3/4 der Fläche".
#include <array>

#include "base/ascii.h"
#include "text/spoken/languages/number_reader.h"
#include "text/spoken/tokens.h"

namespace mynah {
namespace {

struct FractionSign {
  std::string_view written;
  std::string_view name;
};

constexpr auto kFractionSigns = std::to_array<FractionSign>({{"\u00BD", "1/2"},
                                                             {"\u2153", "1/3"},
                                                             {"\u2154", "2/3"},
                                                             {"\u00BC", "1/4"},
                                                             {"\u00BE", "3/4"},
                                                             {"\u215B", "1/8"},
                                                             {"1/2", "1/2"},
                                                             {"1/3", "1/3"},
                                                             {"2/3", "2/3"},
                                                             {"1/4", "1/4"},
                                                             {"3/4", "3/4"},
                                                             {"1/8", "1/8"}});

// A fraction that stands at `at` and ends there: its name and length. `name` is empty where none
// does.
FractionSign fraction_at(std::string_view text, size_t at) {
  for (const FractionSign& sign : kFractionSigns) {
    const size_t end = at + sign.written.size();
    const bool goes_on = end < text.size() && (is_ascii_digit(text[end]) || text[end] == '/');
    if (text.substr(std::min(at, text.size())).starts_with(sign.written) && !goes_on) {
      return {.written = text.substr(at, sign.written.size()), .name = sign.name};
    }
  }
  return {};
}

}  // namespace

// What is said for the key with a gender: "1/2 feminine", else "1/2".
std::string NumberReader::fraction_words(std::string_view key, std::string_view gender) const {
  const auto& words = language_.fractions;
  auto found = words.find(std::string(key) + " " + std::string(gender));
  found = found == words.end() ? words.find(key) : found;
  return found == words.end() ? "" : found->second;
}

// "2½ kg": "deux kilogrammes et demi", from "{0} et demi".
std::optional<SaidNumber> NumberReader::around_noun(const Amount& amount, std::string_view word,
                                                    std::string said,
                                                    const std::string& number) const {
  std::string counted = number;
  size_t end = amount.end;
  if (amount.noun != nullptr) {
    counted = in_form(*amount.noun, amount, number);
  } else if (!word.empty() && !language_.starters.contains(folded(word))) {
    counted += " " + std::string(word);
    end = skip_spaces(text_, end) + word.size();
  }
  said.replace(said.find("{0}"), 3, counted);
  return SaidNumber{end, said};
}

std::optional<SaidNumber> NumberReader::read_fraction(size_t at) const {
  if (language_.fractions.empty()) {
    return std::nullopt;
  }
  FractionSign sign = fraction_at(text_, at);
  Amount amount;
  bool mixed = false;
  if (sign.name.empty()) {
    // "1½", "1 ½", "1 1/2"
    const std::string_view digits = digits_at(text_, at, 6);
    const auto number = digits.empty() ? std::nullopt : scan_number(digits, 0, language_);
    const size_t behind = skip_spaces(text_, at + digits.size());
    sign = number ? fraction_at(text_, behind) : sign;
    if (sign.name.empty() || (is_ascii_digit(sign.written[0]) && behind == at + digits.size())) {
      return std::nullopt;
    }
    amount.number = *number;
    mixed = true;
  }
  amount.end = static_cast<size_t>(sign.written.data() - text_.data()) + sign.written.size();
  add_noun(amount);
  const std::string_view word = word_behind(text_, amount.end);
  // "1/2" alone may be anything.
  if (!is_border(text_, amount.end) ||
      (is_ascii_digit(sign.written[0]) && !mixed && amount.noun == nullptr && word.empty())) {
    return std::nullopt;
  }
  const std::string gender =
      amount.noun != nullptr ? amount.noun->gender : by_ending(language_.genders, word);
  std::string said;
  if (mixed) {
    // A word of its own for one and a half, else the number with what is joined to it.
    said = fraction_words(amount.number.digits + " " + std::string(sign.name), gender);
    if (said.empty()) {
      const auto whole = cardinal(amount.number, gender);
      said = fraction_words("+" + std::string(sign.name), gender);
      const size_t place = said.find("{0}");
      if (!whole || place == std::string::npos) {
        return std::nullopt;
      }
      // "{0} {n} et demi": what is counted stands before the part.
      if (const size_t noun = said.find(" {n}"); noun != std::string::npos) {
        return around_noun(amount, word, said.replace(noun, 4, ""), *whole);
      }
      said.replace(place, 3, *whole);
    }
  } else {
    said = fraction_words(sign.name, gender);
    const bool counted =
        amount.noun != nullptr || !(word.empty() || language_.starters.contains(folded(word)));
    said += counted && sign.name != "1/2" ? fraction_words("of", "") : "";
  }
  if (said.empty()) {
    return std::nullopt;
  }
  if (amount.noun != nullptr) {
    // What a part is of is one, or as behind decimals.
    const bool one = !mixed && fraction_words("noun", "") == "one";
    const auto form = amount.noun->forms.find(
        one ? std::string_view("one") : language_.plural(mixed ? amount.number.value : 1, true));
    const auto other = amount.noun->forms.find("other");
    const auto used = form == amount.noun->forms.end() ? other : form;
    if (used == amount.noun->forms.end()) {
      return std::nullopt;
    }
    std::string noun = used->second;
    const size_t place = noun.find("{0}");
    said = place == std::string::npos ? said + " " + noun : noun.replace(place, 3, said);
  }
  return SaidNumber{amount.end, said};
}

// "mesure 1,75 m": "un mètre soixante-quinze".
std::optional<std::string> NumberReader::say_height(const Amount& amount, size_t at) const {
  const auto metres = language_.units.find("m");
  if (metres == language_.units.end() || amount.noun != &metres->second || amount.number.point ||
      amount.number.fraction.size() != 2 || amount.number.fraction[0] == '0' ||
      amount.number.value == 0 ||
      !language_.height_before.contains(folded(word_before(text_, at)))) {
    return std::nullopt;
  }
  Amount whole = amount;
  whole.number.fraction.clear();
  WrittenNumber rest;
  rest.value = digits_value(amount.number.fraction);
  const auto first = say(whole);
  const auto second = cardinal(rest, "");
  return first && second ? std::optional(*first + " " + *second) : std::nullopt;
}

}  // namespace mynah
