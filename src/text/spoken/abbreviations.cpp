#include "text/spoken/abbreviations.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"
#include "text/spoken/roman.h"
#include "text/spoken/word_tables.h"
#include "text/unicode.h"

namespace mynah {
namespace {

AbbreviationStop stop_of(std::string_view name) {
  using enum AbbreviationStop;
  constexpr std::array<std::pair<std::string_view, AbbreviationStop>, 4> kNames = {
      {{"Never", Never},
       {"BeforeNumber", BeforeNumber},
       {"AtCapital", AtCapital},
       {"AtStarter", AtStarter}}};
  const auto* const found = std::ranges::find(kNames, name, [](const auto& n) { return n.first; });
  MYNAH_CHECK(found != kNames.end(), name);
  return found->second;
}

}  // namespace

bool is_other_word(const Abbreviation& abbreviation, std::string_view word,
                   std::string_view before) {
  const bool capital = is_ascii_upper(word[0]);
  if (among(WordList{"short-states"}, abbreviation.written)) {
    const bool school = before.ends_with("Univ. of ") || before.ends_with("University of ");
    return !capital || !(before.ends_with(", ") || before.ends_with('-') || school);
  }
  if (among(WordList{"short-streets"}, abbreviation.written) ||
      abbreviation.spoken.ends_with("day")) {
    return !capital;
  }
  const bool title = abbreviation.stop == AbbreviationStop::Never && !abbreviation.bare &&
                     (abbreviation.spoken.empty() || is_ascii_upper(abbreviation.spoken[0]));
  return title && !capital;
}

bool is_numbered(std::string_view abbreviation, char32_t next, std::string_view next_word) {
  if (abbreviation == "b" || abbreviation == "d") {
    return next_word.size() > 2 && next_word.size() < 5 &&
           std::ranges::all_of(next_word, is_ascii_digit);
  }
  if (decimal_digit(next).has_value() || next == U'#' || next == U'+' || next == U'\u00A3' ||
      next == U'$' || next == U'\u20AC' || next == U'\u00A5') {
    return true;
  }
  // "p. A12"
  if ((abbreviation == "p" || abbreviation == "pp") && next_word.size() > 1 &&
      is_ascii_upper(next_word[0]) && is_ascii_digit(next_word[1])) {
    return true;
  }
  // "Bks. I–III"
  next_word = next_word.substr(
      0, static_cast<size_t>(
             std::ranges::find_if(next_word,
                                  [](char c) { return static_cast<unsigned char>(c) >= 0x80; }) -
             next_word.begin()));
  const bool of = next_word == "of";
  if (abbreviation == "no" || abbreviation == "nos" || (abbreviation == "sec" && of)) {
    return of;
  }
  if (is_letter_numbered(abbreviation) && next_word.size() == 1 && is_ascii_upper(next_word[0]) &&
      next_word != "I" && next_word != "A") {
    return true;
  }
  const bool roman =
      !next_word.empty() && next_word.find_first_not_of("IVXLC") == std::string_view::npos;
  // One small letter alone is a page's number.
  const bool page = abbreviation == "p" || abbreviation == "pp";
  return roman || ((page || next_word.size() > 1) && small_roman_value(next_word) != 0);
}

bool is_letter_numbered(std::string_view abbreviation) {
  return among(WordList{"letter-numbered"}, abbreviation);
}

bool is_measure(std::string_view lower) {
  return among(WordList{"measures"}, lower);
}

const Abbreviation* find_abbreviation(std::string_view lower) {
  static const auto* const table = [] {
    auto* map = new std::unordered_map<std::string_view, Abbreviation>();
    for (const auto& [written, row] : table_rows(WordTable::Abbreviations)) {
      map->emplace(written, Abbreviation{.written = written,
                                         .spoken = row[1],
                                         .stop = stop_of(row[2]),
                                         .bare = row[3] == "bare"});
    }
    return map;
  }();
  const auto found = table->find(lower);
  return found == table->end() ? nullptr : &found->second;
}

bool is_lettered(std::string_view lower) {
  constexpr auto kLettered = std::to_array<std::string_view>(
      {"plan", "vitamin", "grade", "type", "class", "group", "option", "team", "part", "section",
       "exhibit", "hepatitis", "point", "appendix", "schedule", "side", "answer", "blood"});
  return std::ranges::find(kLettered, lower) != kLettered.end();
}

bool is_sentence_starter(std::string_view lower) {
  return among(WordList{"sentence-starters"}, lower);
}

}  // namespace mynah
