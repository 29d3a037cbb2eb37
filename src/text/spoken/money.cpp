// Amounts of money: signs before or behind the number, ISO 4217 codes, "p" and cents.
#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>

#include "base/ascii.h"
#include "text/spoken/cardinals.h"
#include "text/spoken/quantity.h"
#include "text/spoken/reading.h"
#include "text/spoken/word_tables.h"

namespace mynah {
namespace {

struct Currency {
  std::string_view symbol;
  std::string_view singular;
  std::string_view plural;
  std::string_view part;  // a hundredth; empty where there is none
  std::string_view parts;
};

// The currency of a sign or code; null where there is none.
const Currency* find_currency(std::string_view symbol) {
  static const auto* const table = [] {
    auto* map = new std::unordered_map<std::string_view, Currency>();
    for (const auto& [written, row] : table_rows(WordTable::Currencies)) {
      map->emplace(written, Currency{.symbol = written,
                                     .singular = row[1],
                                     .plural = row[2],
                                     .part = row[3],
                                     .parts = row[4]});
    }
    return map;
  }();
  const auto found = table->find(symbol);
  return found == table->end() ? nullptr : &found->second;
}

struct Sign {
  size_t end = 0;
  const Currency* currency = nullptr;
};

Sign sign_at(const Tokens& tokens, size_t at) {
  // "US$" is a word and a mark.
  const bool dollar = tokens.is_word(at) && tokens.is(at + 1, "$");
  const std::string_view text = dollar ? tokens.text(at, at + 2) : tokens.text(at);
  const Currency* const currency = find_currency(text);
  return currency == nullptr ? Sign{} : Sign{at + (dollar ? 2U : 1U), currency};
}

// "a $5 bill", "its $2 million deal", "two $20 notes": what stands before a noun is singular.
bool is_attribute(const Tokens& tokens, size_t at, size_t end, bool scaled) {
  constexpr auto kArticles = std::to_array<std::string_view>({"a", "an"});
  constexpr auto kNoNouns = std::to_array<std::string_view>({"plus", "odd", "ish", "worth"});
  constexpr auto kBeforeAmounts = std::to_array<std::string_view>(
      {"the", "its", "his", "her", "their", "our", "my", "your", "this", "that", "another", "every",
       "each", "first", "second", "new", "old"});
  // "a $1M+ home"
  end += tokens.is(end, "+") ? 1 : 0;
  // "a $20 million, 50-year deal"
  const size_t list = tokens.is(end, ",") ? tokens.skip_space(end + 1) : end;
  if (list > end && tokens.is_value(list) && tokens.is(list + 1, "-") && tokens.is_word(list + 2) &&
      among(kArticles, ascii_lower(tokens.word_before(at)))) {
    return true;
  }
  if (tokens.is(end, "-") && tokens.is_word(end + 1)) {
    return !among(kNoNouns, tokens.text(end + 1));
  }
  const std::string before = ascii_lower(tokens.word_before(at));
  const std::string behind = ascii_lower(tokens.word_behind(end));
  if (behind.empty() || among(WordList{"no-nouns"}, behind)) {
    return false;
  }
  // "the $300 owed", "the $20 remaining"
  const bool participle = behind.ends_with("ed") || behind.ends_with("ing");
  // "sells $1-$5 toys"
  const bool things =
      is_counted(behind) && behind.ends_with('s') && !among(WordList{"no-things"}, behind);
  // "a sub-$500 phone"
  const bool prefixed = at > 1 && tokens.is(at - 1, "-") && tokens.is(at - 2, "sub");
  return among(kArticles, before) || among(WordList{"priced"}, behind) || things || prefixed ||
         ((among(kBeforeAmounts, before) || before.ends_with("'s")) && (scaled || !participle));
}

// "US dollars" has letters in it.
std::string name_of(std::string_view name) {
  return name.starts_with("US ") ? spell("US") + std::string(name.substr(2)) : std::string(name);
}

// "nine dollars and ninety-nine cents"
std::string amount_words(const Quantity& amount, const Currency& currency, bool singular,
                         EnglishDialect dialect) {
  const bool parts = amount.decimals.size() == 2 && amount.scale.empty() && !currency.part.empty();
  const bool no_parts = amount.decimals.find_first_not_of('0') == std::string::npos;
  Quantity whole = amount;
  if (parts || (no_parts && amount.scale.empty())) {
    whole.decimals.clear();
  }
  const std::string unit =
      name_of(singular || whole.is_one() ? currency.singular : currency.plural);
  std::string words = quantity_words(whole, dialect) + " " + unit;
  if (!parts || no_parts) {
    return words;
  }
  const std::string count = cardinal_words(amount.decimals, dialect);
  const std::string part(amount.decimals == "01" ? currency.part : currency.parts);
  if (amount.whole.empty() || amount.whole == "0") {
    return join_words(amount.sign, count + " " + part);
  }
  return words + " and " + count + " " + part;
}

// "million" and "m", where a space may stand before the letters too: "$5 m", "5 bn €".
void take_scale(const Tokens& tokens, Quantity& amount) {
  constexpr auto kApart = std::to_array<std::string_view>(
      {"k", "K", "m", "M", "mn", "mln", "MM", "bn", "Bn", "B", "tn", "cr", "trn", "bln", "mil"});
  const size_t letters = tokens.skip_space(amount.end);
  // "$5 m²" measures something, whatever it is; "$5 m-high" too.
  const bool compound =
      tokens.kind(letters + 1) == Token::Kind::Mark &&
      std::string_view("-/^'\u00B2\u00B3").find(tokens.text(letters + 1)) != std::string_view::npos;
  const bool apart = letters > amount.end && among(kApart, tokens.text(letters)) && !compound;
  if (const auto scale = scale_at(tokens, apart ? letters : amount.end, ScaleLetters::Known)) {
    amount.scale = scale->word;
    amount.end = scale->end;
  }
}

// "€1.000" and "1.000 €" are a thousand where people write so; "€1.459 per litre" has a point.
void take_dotted_thousands(const Tokens& tokens, const Currency& currency, size_t behind,
                           Quantity& amount) {
  constexpr auto kDotted = std::to_array<std::string_view>(
      {"\u20AC", "EUR", "R$", "BRL", "DKK", "TRY", "\u20BA", "\u20AB"});
  constexpr auto kSoldByParts = std::to_array<std::string_view>(
      {"litre", "liter", "l", "L", "gallon", "kWh", "kg", "unit", "share", "dollar", "pound"});
  constexpr auto kPer = std::to_array<std::string_view>({"per", "a", "the"});
  const bool stroke = tokens.is(behind, "/");
  const size_t per = tokens.skip_space(behind);
  const std::string_view what = stroke                          ? tokens.text(behind + 1)
                                : among(kPer, tokens.text(per)) ? tokens.word_behind(per + 1)
                                                                : std::string_view();
  if (!among(kDotted, currency.symbol) || amount.decimals.size() != 3 || amount.whole.empty() ||
      amount.whole.size() > 3 || amount.whole[0] == '0' || !amount.scale.empty() ||
      among(kSoldByParts, what)) {
    return;
  }
  amount.whole += amount.decimals;
  amount.decimals.clear();
  amount.grouped = true;
}

// "$5-10", "$5–$10m": one past the range, or `end` where there is none.
size_t take_range(const Tokens& tokens, size_t at, const Quantity& first, const Currency& currency,
                  EnglishDialect dialect, std::string& words) {
  size_t dash = first.end;
  if (!tokens.is(dash, "-") && !tokens.is(dash, "\u2013")) {
    return dash;
  }
  // "a $5-to-$10 toy"
  if (tokens.text(dash, dash + 3) == "-to-" && tokens.is_digits(dash + 4)) {
    dash += 2;
  }
  const Sign again = sign_at(tokens, dash + 1);
  const size_t begin = again.currency == &currency ? again.end : dash + 1;
  auto second = tokens.is_digits(begin) ? quantity_at(tokens, begin) : std::nullopt;
  if (!second) {
    return first.end;
  }
  take_scale(tokens, *second);
  Quantity low = first;
  // "$5-10m" are millions both.
  // Not "$200-$2K".
  const bool falls = low.whole.size() > second->whole.size() && low.decimals.empty();
  if (low.scale.empty() && !falls) {
    low.scale = second->scale;
  }
  const bool attribute = is_attribute(tokens, at, second->end, true);
  words =
      quantity_words(low, dialect) + " to " + amount_words(*second, currency, attribute, dialect);
  return second->end;
}

std::optional<Reading> read_sign_first(const Tokens& tokens, size_t at, EnglishDialect dialect) {
  const bool minus = (tokens.is(at, "-") || tokens.is(at, "\u2212")) && tokens.begins_word(at);
  const Sign sign = sign_at(tokens, minus ? at + 1 : at);
  if (sign.currency == nullptr) {
    return std::nullopt;
  }
  const bool code = is_ascii_letter(sign.currency->symbol.back());
  // "EUR/USD 1.08" is a rate.
  if (code && at > 0 && tokens.is(at - 1, "/")) {
    return std::nullopt;
  }
  const size_t stop = code && tokens.is(sign.end, ".") ? sign.end + 1 : sign.end;  // "Rs. 500"
  size_t begin = tokens.skip_space(stop);
  if (!tokens.is_digits(begin) && !(tokens.is(begin, ".") && tokens.is_digits(begin + 1)) &&
      !tokens.is(begin, "-")) {
    return std::nullopt;
  }
  auto amount = quantity_with_decimal_comma(tokens, begin);
  if (!amount) {
    return std::nullopt;
  }
  if (minus) {
    amount->sign = "minus";
  }
  // "$20s and $50s"
  if (tokens.is(amount->end, "s") && tokens.ends_word(amount->end + 1) && !code &&
      amount->decimals.empty()) {
    return Reading{amount->end + 1, to_plural(quantity_words(*amount, dialect))};
  }
  take_scale(tokens, *amount);
  take_dotted_thousands(tokens, *sign.currency, amount->end, *amount);
  std::string words;
  size_t end = take_range(tokens, at, *amount, *sign.currency, dialect, words);
  if (words.empty()) {
    // "the $20-million, five-year contract"
    const bool hyphen = end > begin + 2 && tokens.is(end - 2, "-") && !amount->scale.empty();
    const bool attribute = hyphen || is_attribute(tokens, at, end, !amount->scale.empty());
    words = amount_words(*amount, *sign.currency, attribute, dialect);
  }
  // "$20/hour": what stands below the stroke is read by the sign's reader.
  return Reading{end, std::move(words)};
}

constexpr size_t kNearAmount = 24;  // tokens

// "rose 12.5c to $1.05": dollars or euros near.
bool is_beside_money(const Tokens& tokens, size_t at) {
  for (size_t i = at > kNearAmount ? at - kNearAmount : 0;
       i < at + kNearAmount && !tokens.is_end(i); ++i) {
    if (tokens.is(i, "$") || tokens.is(i, "\u20AC")) {
      return true;
    }
  }
  return false;
}

std::optional<Reading> read_sign_last(const Tokens& tokens, size_t at, EnglishDialect dialect) {
  if (!tokens.is_digits(at) || !tokens.begins_word(at)) {
    return std::nullopt;
  }
  for (auto amount : {quantity_at(tokens, at), quantity_with_decimal_comma(tokens, at)}) {
    if (!amount) {
      continue;
    }
    take_scale(tokens, *amount);
    const size_t behind = tokens.skip_space(amount->end);
    const Sign sign = sign_at(tokens, behind);
    const bool dollar_first = sign.currency != nullptr &&
                              tokens.is_digits(tokens.skip_space(sign.end)) && behind > amount->end;
    if (sign.currency != nullptr && tokens.ends_word(sign.end) && !dollar_first) {
      take_dotted_thousands(tokens, *sign.currency, sign.end, *amount);
      return Reading{sign.end, amount_words(*amount, *sign.currency,
                                            is_attribute(tokens, at, sign.end, true), dialect)};
    }
    // "a 99c app"
    const bool cent =
        tokens.is(amount->end, "c") && tokens.ends_word(amount->end + 1) &&
        !tokens.is(amount->end + 1, ".") && amount->decimals.size() < 2 &&
        amount->whole.size() < 3 &&
        (!is_near(WordList{"heat"}, tokens, at, kNearAmount) || is_beside_money(tokens, at));
    if (cent || tokens.is(amount->end, "\u00A2") ||
        (tokens.is(amount->end, "p") && tokens.ends_word(amount->end + 1))) {
      const bool cents = !tokens.is(amount->end, "p");
      const bool attribute = cents && is_attribute(tokens, at, amount->end + 1, true);
      const std::string_view name =
          amount->is_one() || attribute ? (cents ? "cent" : "penny") : (cents ? "cents" : "pence");
      return Reading{amount->end + 1, quantity_words(*amount, dialect) + " " + std::string(name)};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Reading> read_money(const Tokens& tokens, size_t at, const SpokenOptions& options) {
  if (auto reading = read_sign_first(tokens, at, options.dialect)) {
    return reading;
  }
  return read_sign_last(tokens, at, options.dialect);
}

}  // namespace mynah
