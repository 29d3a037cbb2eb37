// Numbers that are names in several parts: sections of laws, free telephone numbers, entries of
// lists of faults.
#include <array>
#include <string>

#include "text/spoken/cardinals.h"
#include "text/spoken/characters.h"
#include "text/spoken/codes.h"
#include "text/spoken/roman.h"
#include "text/spoken/word_tables.h"

namespace mynah {
namespace {

// Whether a section, an article or the sign of one stands before `at`.
bool is_behind_section(const Tokens& tokens, size_t at) {
  const size_t last = at > 0 && tokens.is_space(at - 1) ? at - 2 : at - 1;
  if (at == 0 || tokens.is(last, "\u00A7")) {
    return at != 0;
  }
  const bool stop = tokens.is(last, ".") && last > 0;
  return among(WordList{"clauses"}, ascii_lower(tokens.text(stop ? last - 1 : last)));
}

// How a part in brackets is said: "1", "a", "iii"; empty where it is none.
std::string clause_part_words(const Tokens& tokens, size_t at, bool behind_letter,
                              EnglishDialect dialect) {
  const std::string_view part = tokens.text(at);
  if (tokens.is_digits(at, 1, 3)) {
    return cardinal_words(part, dialect);
  }
  const unsigned roman = small_roman_value(part);
  if (roman != 0 && (part.size() > 1 || behind_letter)) {
    return cardinal_words(std::to_string(roman), dialect);
  }
  const bool letters = part.size() == 1 || (part.size() == 2 && part[0] == part[1]);
  return letters && tokens.is_word(at) && is_ascii_letter(part[0]) ? spell(part) : "";
}

// "Sec. 2(a)(iii)", "Article 5(1)", "Rule 10b-5(c)".
std::optional<Reading> read_clause(const Tokens& tokens, size_t at, const SpokenOptions& options) {
  if (!tokens.is_digits(at, 1, 4) || !tokens.is(at + 1, "(") || !tokens.begins_word(at)) {
    return std::nullopt;
  }
  const std::string_view digits = tokens.text(at);
  std::string words = digits.size() > 2 ? pair_words(digits, options.dialect)
                                        : cardinal_words(digits, options.dialect);
  size_t end = at + 1;
  int parts = 0;
  bool letter = false;
  for (; parts < 6 && tokens.is(end, "(") && tokens.is(end + 2, ")"); ++parts) {
    const std::string part = clause_part_words(tokens, end + 1, letter, options.dialect);
    if (part.empty()) {
      break;
    }
    letter = part[0] == kLetterName;
    words += " " + part;
    end += 3;
  }
  const bool known = parts > 1 || is_behind_section(tokens, at);
  return parts > 0 && known && tokens.ends_word(end) ? std::optional(Reading{end, std::move(words)})
                                                     : std::nullopt;
}

// "Section 8-102", "Sec. 10-201.5" of a code: its title and its section, in pairs.
std::optional<Reading> read_hyphened_section(const Tokens& tokens, size_t at,
                                             const SpokenOptions& options) {
  constexpr auto kSections =
      std::to_array<std::string_view>({"section", "sec", "sect", "article", "art", "rule", "code"});
  const size_t last = at > 0 && tokens.is_space(at - 1) ? at - 2 : at - 1;
  const bool stop = at > 1 && tokens.is(last, ".") && last > 0;
  const bool named = at > 1 && (tokens.is(last, "\u00A7") ||
                                among(kSections, ascii_lower(tokens.text(stop ? last - 1 : last))));
  if (!named || !tokens.is_digits(at, 1, 2) || !tokens.is(at + 1, "-") ||
      !tokens.is_digits(at + 2, 3, 4) || !tokens.ends_word(at + 3) || tokens.is(at + 3, "-")) {
    return std::nullopt;
  }
  return Reading{at + 3, cardinal_words(tokens.text(at), options.dialect) + " " +
                             pair_words(tokens.text(at + 2), options.dialect)};
}

// "a 1-800 number", "1-888-GO-FEDEX": codes of numbers that cost the caller nothing, or much
// (North American Numbering Plan Administrator).
std::optional<Reading> read_free_number(const Tokens& tokens, size_t at,
                                        const SpokenOptions& options) {
  constexpr auto kCodes = std::to_array<std::string_view>(
      {"800", "888", "877", "866", "855", "844", "833", "822", "900"});
  if (!tokens.is(at, "1") || !tokens.is(at + 1, "-") || !among(kCodes, tokens.text(at + 2)) ||
      !tokens.begins_word(at) || !tokens.ends_word(at + 3)) {
    return std::nullopt;
  }
  const bool word = tokens.is(at + 3, "-") && tokens.is_word(at + 4);
  if (tokens.is(at + 3, "-") && !word) {
    return std::nullopt;
  }
  const std::string_view code = tokens.text(at + 2);
  return Reading{
      at + (word ? 4 : 3),
      "one " + (code.ends_with("00") ? cardinal_words(code, options.dialect) : digit_words(code))};
}

// "CVE-2024-3094", "RHSA-2023:1405": a year and the number of an entry.
std::optional<Reading> read_entry(const Tokens& tokens, size_t at, const SpokenOptions& options) {
  const std::string_view letters = tokens.text(at);
  const unsigned year = tokens.is_digits(at + 2, 4, 4) ? digits_value(tokens.text(at + 2)) : 0;
  if (!is_all_capitals(letters) || letters.size() > 6 || !tokens.is(at + 1, "-") || year < 1900 ||
      year > 2099 || !(tokens.is(at + 3, "-") || tokens.is(at + 3, ":")) ||
      !tokens.is_digits(at + 4, 2, 9) || !tokens.ends_word(at + 5) || !tokens.begins_word(at)) {
    return std::nullopt;
  }
  return Reading{at + 5, spell(letters) + " " + year_words(tokens.text(at + 2), options.dialect) +
                             ", " + digit_words(tokens.text(at + 4))};
}

// "FY2024", "FY2023/24", "FY24": a fiscal year.
std::optional<Reading> read_fiscal_year(const Tokens& tokens, size_t at,
                                        const SpokenOptions& options) {
  const size_t first = tokens.skip_space(at + 1);
  const std::string_view digits = tokens.text(first);
  if (!tokens.is(at, "FY") || !tokens.is_digits(first, 2, 4) || digits.size() == 3 ||
      !tokens.begins_word(at)) {
    return std::nullopt;
  }
  std::string words = "fiscal year " + (digits.size() == 4 ? year_words(digits, options.dialect)
                                                           : pair_words(digits, options.dialect));
  const bool second =
      (tokens.is(first + 1, "/") || tokens.is(first + 1, "-") || tokens.is(first + 1, "\u2013")) &&
      (tokens.is_digits(first + 2, 2, 2) || tokens.is_digits(first + 2, 4, 4)) &&
      tokens.ends_word(first + 3);
  if (second) {
    const std::string_view last = tokens.text(first + 2);
    words += " " + (last.size() == 4 ? year_words(last, options.dialect)
                                     : pair_words(last, options.dialect));
  }
  return Reading{first + (second ? 3 : 1), std::move(words)};
}

// "S01E05": a season and an episode.
std::optional<Reading> read_episode(const Tokens& tokens, size_t at, const SpokenOptions& options) {
  const auto is_letter = [&](size_t i, std::string_view letter) {
    return ascii_lower(tokens.text(i)) == letter && tokens.is_digits(i + 1, 1, 3);
  };
  if (!is_letter(at, "s") || !is_letter(at + 2, "e") || !tokens.begins_word(at) ||
      !tokens.ends_word(at + 4)) {
    return std::nullopt;
  }
  return Reading{at + 4, "season " + cardinal_words(tokens.text(at + 1), options.dialect) +
                             " episode " + cardinal_words(tokens.text(at + 3), options.dialect)};
}

}  // namespace

std::optional<Reading> read_name_in_parts(const Tokens& tokens, size_t at,
                                          const SpokenOptions& options) {
  for (const Reader reader : {read_clause, read_hyphened_section, read_free_number, read_entry,
                              read_fiscal_year, read_episode}) {
    if (auto reading = reader(tokens, at, options)) {
      return reading;
    }
  }
  return std::nullopt;
}

}  // namespace mynah
