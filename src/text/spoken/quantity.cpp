#include "text/spoken/quantity.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "text/spoken/cardinals.h"
#include "text/spoken/reading.h"
#include "text/spoken/word_tables.h"
#include "text/utf8.h"

namespace mynah {
namespace {

struct Vulgar {
  char32_t character;
  std::string_view numerator;
  std::string_view denominator;
};

constexpr std::array kVulgars = std::to_array<Vulgar>({
    {U'\u00BC', "1", "4"},
    {U'\u00BD', "1", "2"},
    {U'\u00BE', "3", "4"},
    {U'\u2150', "1", "7"},
    {U'\u2151', "1", "9"},
    {U'\u2152', "1", "10"},
    {U'\u2153', "1", "3"},
    {U'\u2154', "2", "3"},
    {U'\u2155', "1", "5"},
    {U'\u2156', "2", "5"},
    {U'\u2157', "3", "5"},
    {U'\u2158', "4", "5"},
    {U'\u2159', "1", "6"},
    {U'\u215A', "5", "6"},
    {U'\u215B', "1", "8"},
    {U'\u215C', "3", "8"},
    {U'\u215D', "5", "8"},
    {U'\u215E', "7", "8"},
});

// A group behind a comma, an apostrophe or a space: exactly three digits.
bool is_group(const Tokens& tokens, size_t at) {
  return tokens.is_digits(at, 3, 3);
}

// Groups are few: a longer chain is a list of numbers or nonsense.
constexpr size_t kGroups = 12;

size_t take_groups(const Tokens& tokens, size_t at, std::string& digits, bool& grouped) {
  size_t end = at;
  // Switzerland groups by apostrophes: "1'250.50" (CLDR, de-CH).
  const std::string_view mark = tokens.is(at, "'") ? "'" : ",";
  for (size_t i = 0; i < kGroups && tokens.is(end, mark) && is_group(tokens, end + 1); ++i) {
    digits += tokens.text(end + 1);
    end += 2;
  }
  // Spaces group where there are two of them at least ("1 234 567"): "5 100" may be two numbers.
  if (end == at && tokens.is_space(at) && is_group(tokens, at + 1) && tokens.is_space(at + 2) &&
      is_group(tokens, at + 3) && !digits.starts_with('0')) {
    for (size_t i = 0; i < kGroups && tokens.is(end, " ") && is_group(tokens, end + 1); ++i) {
      digits += tokens.text(end + 1);
      end += 2;
    }
  }
  grouped = end > at;
  return end;
}

// "1,00,000", "12,34,56,789": one or two digits, twos, then three (India's Weights and Measures
// (National Standards) Rules, and CLDR's #,##,##0.###). One past them, or `at`.
size_t take_indian_groups(const Tokens& tokens, size_t at, std::string& digits) {
  size_t end = at;
  std::string taken;
  for (size_t i = 0; i < kGroups && tokens.is(end, ",") && tokens.is_digits(end + 1, 2, 2); ++i) {
    taken += tokens.text(end + 1);
    end += 2;
  }
  const bool whole = end > at && digits.size() <= 2 && tokens.is(end, ",") &&
                     is_group(tokens, end + 1) &&
                     !(tokens.is(end + 2, ",") && tokens.is_digits(end + 3));
  if (!whole || digits.starts_with('0')) {
    return at;
  }
  digits += taken;
  digits += tokens.text(end + 1);
  return end + 2;
}

// "1.000,50", "1.234.567": groups of three behind stops and decimals behind a comma, as most of
// Europe and Latin America write (CLDR, de: #.##0,###). It is read so where nothing else can be
// meant: two groups, or one group with a comma and one or two digits behind it.
bool take_dotted_groups(const Tokens& tokens, size_t at, Quantity& quantity) {
  size_t end = at;
  std::string taken;
  size_t groups = 0;
  for (; groups < kGroups && tokens.is(end, ".") && is_group(tokens, end + 1); ++groups) {
    taken += tokens.text(end + 1);
    end += 2;
  }
  const bool goes_on = tokens.is(end, ".") && tokens.is_digits(end + 1);
  if (groups == 0 || goes_on || quantity.whole.size() > 3 || quantity.whole.starts_with('0')) {
    return false;
  }
  const bool one_more =
      (tokens.is(end + 2, ",") || tokens.is(end + 2, ".")) && tokens.is_digits(end + 3);
  const bool decimals =
      tokens.is(end, ",") && tokens.is_digits(end + 1, 1, groups > 1 ? 9 : 2) && !one_more;
  if (groups == 1 && !decimals) {
    return false;
  }
  quantity.whole += taken;
  quantity.decimals = decimals ? tokens.text(end + 1) : std::string_view();
  quantity.grouped = true;
  quantity.end = end + (decimals ? 2 : 0);
  return true;
}

std::string_view sign_before_words(std::string_view sign) {
  if (sign == "-" || sign == "\u2212") {
    return "minus";
  }
  if (sign == "+") {
    return "plus";
  }
  return sign == "\u00B1" ? "plus or minus" : "";
}

std::optional<Quantity> unsigned_quantity_at(const Tokens& tokens, size_t at) {
  Quantity quantity;
  quantity.end = at;
  if (tokens.is_digits(at)) {
    quantity.whole = tokens.text(at);
    quantity.end = at + 1;
    if (quantity.whole.size() <= 3) {
      quantity.end = take_indian_groups(tokens, at + 1, quantity.whole);
      quantity.indian = quantity.end > at + 1;
      if (!quantity.indian) {
        quantity.end = take_groups(tokens, at + 1, quantity.whole, quantity.grouped);
      }
    }
  }
  const size_t point = quantity.end;
  if (point == at + 1 && take_dotted_groups(tokens, point, quantity)) {
    return quantity;
  }
  if (tokens.is(point, ".") && tokens.is_digits(point + 1) &&
      !(tokens.is(point + 2, ".") && tokens.is_digits(point + 3))) {
    quantity.decimals = tokens.text(point + 1);
    quantity.end = point + 2;
    return quantity;
  }
  // "3 1/2" and "3½".
  const size_t next = tokens.skip_space(quantity.end);
  const bool mixed = !quantity.whole.empty();
  if (const auto vulgar =
          vulgar_fraction_words(next_code_point(tokens.text(next)).code_point, mixed)) {
    quantity.fraction = *vulgar;
    quantity.end = next + 1;
  } else if (const size_t part = mixed && tokens.is(next, "-") ? next + 1 : next;
             mixed && part > quantity.end && quantity.whole.size() <= 3 &&
             tokens.is_digits(part, 1, 2) && tokens.is(part + 1, "/") &&
             tokens.is_digits(part + 2, 1, 3) && !tokens.is(part + 3, "/") &&
             tokens.ends_word(part + 3) &&
             digits_value(tokens.text(part)) < digits_value(tokens.text(part + 2))) {
    quantity.fraction =
        fraction_words(tokens.text(part), tokens.text(part + 2), true, EnglishDialect::American);
    quantity.end = part + 3;
  }
  if (quantity.end == at) {
    return std::nullopt;
  }
  return quantity;
}

}  // namespace

std::optional<std::string> vulgar_fraction_words(char32_t c, bool after_whole) {
  const auto* const found = std::ranges::find(kVulgars, c, &Vulgar::character);
  if (found == kVulgars.end()) {
    return std::nullopt;
  }
  return fraction_words(found->numerator, found->denominator, after_whole,
                        EnglishDialect::American);
}

std::string fraction_words(std::string_view numerator, std::string_view denominator,
                           bool after_whole, EnglishDialect dialect) {
  const unsigned parts = digits_value(denominator.substr(0, 9));
  const bool one = numerator == "1";
  const std::string above = cardinal_words(numerator, dialect);
  if (parts == 0 || denominator.size() > 4 || (parts > 100 && parts % 100 != 0)) {
    return above + " over " + cardinal_words(denominator, dialect);
  }
  std::string name;
  if (parts == 1) {
    return above + " over one";
  }
  if (parts == 2) {
    name = "half";
  } else if (parts == 4) {
    name = "quarter";
  } else {
    name = ordinal_words(denominator, dialect);
  }
  if (!one) {
    return above + " " + to_plural(name);
  }
  return (after_whole && parts <= 4 ? "a " : "one ") + name;
}

std::optional<Quantity> quantity_at(const Tokens& tokens, size_t at) {
  const std::string_view sign = sign_before_words(tokens.text(at));
  if (sign.empty()) {
    // ".5" begins a number where nothing stands before its point.
    const bool point = tokens.is(at, ".") && tokens.begins_word(at);
    return tokens.is_digits(at) || point || !tokens.is_end(at)
               ? (tokens.kind(at) == Token::Kind::Word || tokens.is_space(at)
                      ? std::nullopt
                      : unsigned_quantity_at(tokens, at))
               : std::nullopt;
  }
  if (!tokens.is_digits(at + 1) && !(tokens.is(at + 1, ".") && tokens.is_digits(at + 2))) {
    return std::nullopt;
  }
  auto quantity = unsigned_quantity_at(tokens, at + 1);
  if (quantity) {
    quantity->sign = sign;
  }
  return quantity;
}

bool is_dotted_amount(const Tokens& tokens, size_t at) {
  const auto quantity = tokens.is_digits(at) ? unsigned_quantity_at(tokens, at) : std::nullopt;
  return quantity && quantity->grouped && tokens.is(at + 1, ".");
}

std::optional<Quantity> quantity_with_decimal_comma(const Tokens& tokens, size_t at) {
  auto quantity = quantity_at(tokens, at);
  const bool more = tokens.is(at + 3, ",") && tokens.is_digits(at + 4);
  if (!quantity || quantity->end != at + 1 || !tokens.is_digits(at, 1, 9) ||
      !tokens.is(at + 1, ",") || !tokens.is_digits(at + 2, 1, 2) || more) {
    return quantity;
  }
  return Quantity{.end = at + 3,
                  .sign = {},
                  .whole = std::string(tokens.text(at)),
                  .decimals = std::string(tokens.text(at + 2)),
                  .fraction = {},
                  .scale = {}};
}

std::string quantity_words(const Quantity& quantity, EnglishDialect dialect) {
  std::string words;
  const std::string& whole = quantity.whole;
  const bool round = whole.size() > 6 && whole.ends_with("000000");
  if (whole.empty()) {
    // ".5" begins with its point.
  } else if (quantity.indian) {
    words = indian_words(whole, dialect);
  } else if ((whole.size() > 1 && whole[0] == '0') ||
             (whole.size() > 9 && !quantity.grouped && !round)) {
    words = digit_words(whole);
  } else {
    words = cardinal_words(whole, dialect);
  }
  if (!quantity.decimals.empty()) {
    words = join_words(words, "point " + digit_words(quantity.decimals));
  }
  if (!quantity.fraction.empty()) {
    words = words.empty() ? quantity.fraction : words + " and " + quantity.fraction;
  }
  return join_words(join_words(quantity.sign, words), quantity.scale);
}

bool is_counted(std::string_view word) {
  constexpr auto kPlurals = std::to_array<std::string_view>(
      {"people", "men", "women", "children", "feet", "fish", "sheep", "more", "percent"});
  constexpr auto kSingulars = std::to_array<std::string_view>(
      {"is", "was", "has", "as", "his", "its", "this", "us", "thus", "its", "does", "plus"});
  if (word.empty() || !is_ascii_lower(word[0])) {
    return false;
  }
  return among(kPlurals, word) ||
         (word.size() > 2 && !among(WordList{"ones-in-s"}, word) && word.ends_with('s') &&
          !word.ends_with("ss") && !word.ends_with("'s") && !among(kSingulars, word));
}

std::optional<Scale> scale_at(const Tokens& tokens, size_t at, ScaleLetters letters) {
  struct Name {
    std::string_view written;
    std::string_view spoken;
  };

  constexpr std::array kWords = std::to_array<Name>({{"hundred", "hundred"},
                                                     {"thousand", "thousand"},
                                                     {"million", "million"},
                                                     {"billion", "billion"},
                                                     {"trillion", "trillion"},
                                                     {"quadrillion", "quadrillion"},
                                                     {"lakh", "lakh"},
                                                     {"lakhs", "lakh"},
                                                     {"lac", "lakh"},
                                                     {"crore", "crore"},
                                                     {"crores", "crore"},
                                                     {"bn", "billion"},
                                                     {"bln", "billion"},
                                                     {"tn", "trillion"},
                                                     {"trn", "trillion"}});
  constexpr std::array kShort = std::to_array<Name>({{"k", "thousand"},
                                                     {"K", "thousand"},
                                                     {"m", "million"},
                                                     {"M", "million"},
                                                     {"mn", "million"},
                                                     {"mln", "million"},
                                                     {"MM", "million"},
                                                     {"b", "billion"},
                                                     {"B", "billion"},
                                                     {"bn", "billion"},
                                                     {"Bn", "billion"},
                                                     {"t", "trillion"},
                                                     {"T", "trillion"},
                                                     {"tn", "trillion"},
                                                     {"trn", "trillion"},
                                                     {"bln", "billion"},
                                                     {"mil", "million"},
                                                     {"cr", "crore"}});
  // "$100-million deal" has a hyphen.
  const size_t word = tokens.is(at, "-") ? at + 1 : tokens.skip_space(at);
  const std::string lower = ascii_lower(tokens.text(word));
  for (const Name& name : kWords) {
    if (lower == name.written) {
      // "2.5 lakh crore"
      const size_t crore = tokens.is(word + 1, "-") ? word + 2 : tokens.skip_space(word + 1);
      if (name.spoken == "lakh" && crore > word + 1 && tokens.is(crore, "crore")) {
        return Scale{.end = crore + 1, .word = "lakh crore"};
      }
      return Scale{.end = word + 1, .word = name.spoken};
    }
  }
  if (letters == ScaleLetters::Known && tokens.is_word(at) && tokens.ends_word(at + 1)) {
    for (const Name& name : kShort) {
      if (tokens.is(at, name.written)) {
        return Scale{.end = at + 1, .word = name.spoken};
      }
    }
  }
  return std::nullopt;
}

}  // namespace mynah
