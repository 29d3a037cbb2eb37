// Which letters are said as letters: initialisms, single letters, letters beside digits.
#include <algorithm>
#include <array>
#include <string>

#include "text/spoken/abbreviations.h"
#include "text/spoken/cardinals.h"
#include "text/spoken/characters.h"
#include "text/spoken/reading.h"
#include "text/spoken/sayable.h"
#include "text/spoken/word_tables.h"

namespace mynah {
namespace {

bool has_vowel(std::string_view word) {
  return word.find_first_of("AEIOU") != std::string_view::npos;
}

bool has_small_vowel(std::string_view word) {
  return std::ranges::any_of(word, is_vowel_letter);
}

// Somebody shouts where a neighbour in capitals is a word.
bool is_shouted(const Tokens& tokens, size_t at) {
  const auto shouts = [](std::string_view word) {
    return is_all_capitals(word) && has_vowel(word) && !among(WordList{"initialisms"}, word) &&
           !among(WordList{"acronyms"}, word) &&
           (word.size() > 2 || among(WordList{"short-words"}, word));
  };
  return shouts(tokens.word_before(at)) || shouts(tokens.word_behind(at + 1));
}

// How a word in capitals is said.
std::string capitals_words(const Tokens& tokens, size_t at, std::string_view word) {
  if (among(WordList{"acronyms"}, word)) {
    return std::string(word);
  }
  if (tokens.is(at + 1, "&") || (at > 0 && tokens.is(at - 1, "&"))) {
    return spell(word);
  }
  if (among(WordList{"also-words"}, word) || among(WordList{"short-words"}, word)) {
    const bool letters = among(WordList{"initialisms"}, word) && !is_shouted(tokens, at);
    return letters ? spell(word) : ascii_lower(word);
  }
  if (among(WordList{"initialisms"}, word) || word.size() == 2 || !has_vowel(word)) {
    const bool sayable = word.find('Y') != std::string_view::npos && is_shouted(tokens, at);
    return sayable && !among(WordList{"initialisms"}, word) ? ascii_lower(word) : spell(word);
  }
  // "AAPL" is no word; longer ones are names that somebody can say.
  constexpr size_t kLongestLetters = 5;
  if (word.size() <= kLongestLetters && !is_sayable(word) && !is_shouted(tokens, at)) {
    return spell(word);
  }
  return ascii_lower(word);
}

// "asap", "FAQs": how a word is said that is not as its letters are.
std::optional<Reading> read_respelled(const Tokens& tokens, size_t at) {
  const std::string_view word = tokens.text(at);
  const std::string lower = ascii_lower(word);
  const std::string_view tail = word.ends_with("'s") ? "'s" : "";
  const std::string_view front = word.substr(0, word.size() - tail.size());
  for (const std::string_view written : {front, std::string_view(lower).substr(0, front.size())}) {
    if (const TableRow* const respelled = find_row(WordTable::Respelled, written)) {
      return Reading{at + 1, with_letter_names((*respelled)[1]) += tail};
    }
  }
  // "Ssh!" hushes somebody.
  constexpr auto kHushing = std::to_array<std::string_view>({"!", ",", ".", "\u2026"});
  if (word == "Ssh" && among(kHushing, tokens.text(at + 1))) {
    return std::nullopt;
  }
  const bool plural = word.ends_with('s');
  const std::string_view core = word.substr(0, word.size() - (plural ? 1 : 0));
  if (among(WordList{"small-initialisms"}, is_title_case(core) ? ascii_lower(core) : core)) {
    return Reading{at + 1, spell(core) + (plural ? "'s" : "")};
  }
  return std::nullopt;
}

// A part of several letters of what has stops inside: "LL.B.", "Ph.D.", "D.Phil."
bool is_degree_part(std::string_view part) {
  const bool letters = part.size() == 2 && !among(WordList{"short-words"}, ascii_upper(part));
  const Abbreviation* const known = find_abbreviation(ascii_lower(part));
  return is_ascii_upper(part[0]) && (letters || among(WordList{"degree-parts"}, part)) &&
         (known == nullptr || known->stop != AbbreviationStop::Never);
}

// "U.S.A.", "J.R.R.", "a.m.", "LL.B.", "D.Phil.", "R.B.I.s"
std::optional<Reading> read_dotted(const Tokens& tokens, size_t at) {
  constexpr int kMostParts = 12;
  std::string words;
  size_t end = at;
  int parts = 0;
  bool single = false;
  const auto take = [&](size_t part) {
    const std::string_view text = tokens.text(part);
    if (!tokens.is_word(part) || (text.size() > 1 && !is_degree_part(text))) {
      return false;
    }
    const bool word = text.size() > 2 && has_small_vowel(text);
    words = join_words(words, word ? std::string(text) : spell(text));
    single = single || text.size() == 1;
    ++parts;
    return true;
  };
  // The "s" of "two M.B.A.s." is no part.
  while (parts < kMostParts && tokens.is(end + 1, ".") && !(parts > 1 && tokens.is(end, "s")) &&
         take(end)) {
    end += 2;
  }
  const bool plural = parts > 1 && tokens.is(end, "s") && tokens.ends_word(end + 1);
  // "U.S" without its last stop.
  if (plural) {
    words += "'s";
    ++end;
  } else if (parts > 0 && parts < kMostParts && take(end)) {
    ++end;
  }
  if (parts < 2 || !single || !tokens.ends_word(end)) {
    return std::nullopt;
  }
  // "the U.S.'s"
  if (tokens.is(end, "'") && tokens.is(end + 1, "s") && tokens.ends_word(end + 2)) {
    return Reading{end + 2, words + "'s"};
  }
  if (tokens.is(end - 1, ".") && tokens.ends_text(end)) {
    --end;
  }
  return Reading{end, std::move(words)};
}

bool beside_digits(const Tokens& tokens, size_t at) {
  return tokens.is_digits(at + 1) || (at > 0 && tokens.is_digits(at - 1)) ||
         (tokens.is(at + 1, "-") && tokens.is_digits(at + 2));
}

// "5 cm x 7 cm", 5" x 7": measures around it.
bool is_by(const Tokens& tokens, size_t at) {
  if (at < 2 || !tokens.is_space(at - 1) || !tokens.is_digits(tokens.skip_space(at + 1))) {
    return false;
  }
  const size_t unit = at - 2;
  const size_t number = tokens.is_space(unit - 1) ? unit - 2 : unit - 1;
  const bool stop = tokens.is(unit, ".") && tokens.is_word(unit - 1);  // "50 ft. x 100 ft."
  if (stop) {
    return tokens.is_digits(unit - 2) || (tokens.is_space(unit - 2) && tokens.is_digits(unit - 3));
  }
  const bool measured = tokens.is_word(unit) || tokens.is(unit, "\"") || tokens.is(unit, "'");
  return unit > 0 && measured && tokens.is_digits(number);
}

// "S. aureus", "E. coli": a genus cut short before its species, whose stop is not heard. "A. milk"
// where the text begins is a list's item.
bool is_genus(const Tokens& tokens, size_t at) {
  const std::string_view letter = tokens.text(at);
  const std::string_view species = tokens.text(at + 3);
  return is_ascii_upper(letter[0]) && letter != "I" && (at > 0 || letter[0] > 'D') &&
         tokens.is(at + 1, ".") && tokens.is_space(at + 2) && tokens.is_word(at + 3) &&
         is_ascii_lower(species[0]) && species.size() > 2 && !is_sentence_starter(species) &&
         !is_lettered(ascii_lower(tokens.word_before(at)));
}

bool is_in_formula(const Tokens& tokens, size_t at) {
  constexpr auto kPowers = std::to_array<std::string_view>({"\u00B2", "\u00B3", "^"});
  constexpr auto kOperators = std::to_array<std::string_view>(
      {"=", "+", "\u2212", "\u00D7", "\u00B1", "<", ">", "\u2264", "\u2265"});
  const size_t last = at > 0 && tokens.is_space(at - 1) ? at - 2 : at - 1;
  return among(kPowers, tokens.text(at + 1)) ||
         among(kOperators, tokens.text(tokens.skip_space(at + 1))) ||
         (at > 0 && among(kOperators, tokens.text(last)));
}

// "a C-, then a B-": grades; not "A- and B-roads".
bool is_low_grade(const Tokens& tokens, size_t at) {
  constexpr std::string_view kGrades = "ABCDF";
  const std::string_view letter = tokens.text(at);
  const size_t other = tokens.skip_space(tokens.skip_space(at + 2) + 1);
  const bool suspended = tokens.is(other + 1, "-") && tokens.is_word(other + 2);
  constexpr auto kBefore = std::to_array<std::string_view>(
      {"a", "an", "grade", "got", "or", "and", "to", "than", "only"});
  return kGrades.find(letter) != std::string_view::npos && tokens.is(at + 1, "-") &&
         among(kBefore, tokens.word_before(at)) && !tokens.is(at + 2, "-") &&
         tokens.ends_word(at + 2) && tokens.begins_word(at) && !suspended;
}

// "to", "on": no unknowns.
bool is_two_letter_word(std::string_view small) {
  return among(WordList{"short-words"}, ascii_upper(small));
}

// "F = ma", "PV = nRT", "4ac": unknowns that are multiplied.
bool is_product(const Tokens& tokens, size_t at) {
  constexpr size_t kNear = 12;  // tokens
  const std::string_view word = tokens.text(at);
  const bool small = std::ranges::all_of(word, is_ascii_lower);
  const size_t sign = at > 2 && tokens.is(at - 1, "-") ? at - 1 : at;
  const size_t equals = sign > 1 && tokens.is_space(sign - 1) ? sign - 2 : sign - 1;
  if (at > 2 && tokens.is(equals, "=")) {
    const size_t left = tokens.is_space(equals - 1) ? equals - 2 : equals - 1;
    const std::string_view unknown = tokens.text(left);
    const bool formula = unknown.size() == 1 || (unknown.size() == 2 && is_ascii_upper(unknown[1]));
    const bool mixed = word.size() <= 4 && !small && !is_title_case(word) &&
                       !is_all_capitals(word) && std::ranges::all_of(word, is_ascii_letter);
    const bool two = word.size() == 2 && small && !is_two_letter_word(word);
    return tokens.is_word(left) && formula && (mixed || two);
  }
  if (at == 0 || !tokens.is_digits(at - 1) || !small || word.size() > 3) {
    return false;
  }
  for (size_t i = at > kNear ? at - kNear : 0; i < at + kNear && !tokens.is_end(i); ++i) {
    if (tokens.is(i, "\u00B2") || tokens.is(i, "\u221A")) {
      return true;
    }
  }
  return false;
}

std::optional<Reading> read_letter(const Tokens& tokens, size_t at) {
  const std::string_view letter = tokens.text(at);
  if (is_genus(tokens, at)) {
    return Reading{at + 2, spell(letter)};
  }
  if (letter == "x" && is_by(tokens, at)) {
    return Reading{at + 1, "by"};
  }
  // "X-ray", "e-mail" and "T-shirt" are in the lexicons.
  if (tokens.is(at + 1, "-") && tokens.is_word(at + 2) && tokens.text(at + 2).size() > 1 &&
      is_ascii_lower(tokens.text(at + 2)[0])) {
    return Reading{at + 3, std::string(tokens.text(at, at + 3))};
  }
  // "J.Smith"
  if (is_ascii_upper(letter[0]) && tokens.is(at + 1, ".") && tokens.is_word(at + 2) &&
      tokens.text(at + 2).size() > 1 && is_title_case(tokens.text(at + 2))) {
    return Reading{at + 2, spell(letter)};
  }
  // "T-10 minutes"
  if (letter == "T" && tokens.is(at + 1, "-") && tokens.is_digits(at + 2) &&
      (among(WordList{"countdown"}, tokens.word_behind(at + 3)) ||
       (tokens.word_behind(at + 3) == "and" && tokens.is(at + 6, "counting")))) {
    return Reading{at + 2, spell(letter) + " minus"};
  }
  // "Sanders, I-Vt., said", "(I-Maine)"
  const bool party = at > 1 && (tokens.is(at - 1, "(") || tokens.is(at - 2, ","));
  if (letter == "I" && party && tokens.is(at + 1, "-") && is_title_case(tokens.text(at + 2))) {
    return Reading{at + 1, spell(letter)};
  }
  // "325 degrees F"
  const std::string_view scale = tokens.word_before(at);
  if ((letter == "F" || letter == "C") && (scale == "degrees" || scale == "degree")) {
    return Reading{at + 1, letter == "F" ? "Fahrenheit" : "Celsius"};
  }
  if (is_low_grade(tokens, at)) {
    return Reading{at + 2, spell(letter) + " minus"};
  }
  if (beside_digits(tokens, at)) {
    return Reading{at + 1, spell(letter)};
  }
  // "London W.1", "the B.1.1.7 variant"
  if (is_ascii_upper(letter[0]) && tokens.is(at + 1, ".") && tokens.is_digits(at + 2)) {
    // "X.509"
    const bool three = tokens.is_digits(at + 2, 3, 3) && tokens.ends_word(at + 3) &&
                       !(tokens.is(at + 3, ".") && tokens.is_digits(at + 4));
    return three ? Reading{at + 3, spell(letter) + " " +
                                       pair_words(tokens.text(at + 2), EnglishDialect::American)}
                 : Reading{at + 2, spell(letter)};
  }
  // "S. 2226": a bill of the Senate; "K. 466" of Mozart's works.
  if ((letter == "S" || letter == "K") && tokens.is(at + 1, ".") && tokens.is_space(at + 2) &&
      tokens.is_digits(at + 3, 1, 4)) {
    return Reading{at + 2, spell(letter)};
  }
  const std::string_view next = tokens.word_behind(at + 1);
  // "I. M. Pei"
  if (letter == "I" && tokens.is(at + 1, ".") && tokens.is_space(at + 2) &&
      tokens.text(at + 3).size() == 1 && is_title_case(tokens.text(at + 3)) &&
      tokens.is(at + 4, ".")) {
    return Reading{at + 2, spell(letter)};
  }
  if (letter == "I" || letter == "i" || letter == "O") {
    return std::nullopt;
  }
  // "In 1990 A. Smith left", "said A. Smith"
  if (letter == "A" && at > 0 && tokens.is(at + 1, ".") && tokens.is_space(at + 2) &&
      is_title_case(tokens.text(at + 3)) &&
      !is_sentence_starter(ascii_lower(tokens.text(at + 3)))) {
    return Reading{at + 2, spell(letter)};
  }
  if (letter == "A" || letter == "a") {
    // The article has a word behind it; "grade A" has none.
    const bool article =
        at == 0 || !next.empty() || letter == "a" || tokens.word_before(at).empty();
    return article ? std::nullopt : std::optional(Reading{at + 1, spell(letter)});
  }
  // "J. Smith": the stop of an initial is not heard.
  const bool initial = is_ascii_upper(letter[0]) && tokens.is(at + 1, ".") &&
                       tokens.is_space(at + 2) && tokens.is_word(at + 3) &&
                       is_ascii_upper(tokens.text(at + 3)[0]);
  return Reading{initial ? at + 2 : at + 1, spell(letter)};
}

}  // namespace

std::optional<Reading> read_initialism(const Tokens& tokens, size_t at, const SpokenOptions&) {
  const std::string_view word = tokens.text(at);
  if (!tokens.is_word(at) || !is_ascii_letter(word[0])) {
    return std::nullopt;
  }
  if (word.size() == 1) {
    if (auto dotted = read_dotted(tokens, at)) {
      return dotted;
    }
    return read_letter(tokens, at);
  }
  // "B-1Bs"
  if (word.size() == 2 && is_ascii_upper(word[0]) && word[1] == 's' && at > 0 &&
      tokens.is_digits(at - 1)) {
    return Reading{at + 1, spell(word.substr(0, 1)) + "'s"};
  }
  if (tokens.is(at + 1, ".") && tokens.is_word(at + 2)) {
    if (auto dotted = read_dotted(tokens, at)) {
      return dotted;
    }
  }
  if (auto respelled = read_respelled(tokens, at)) {
    return respelled;
  }
  // "CPUs" and "FBI's" keep their s.
  std::string_view core = word;
  std::string_view tail;
  for (const std::string_view suffix : {"'s", "'S", "s"}) {
    const std::string_view front =
        word.substr(0, word.size() - std::min(word.size(), suffix.size()));
    if (word.ends_with(suffix) && is_all_capitals(front)) {
      core = front;
      tail = "'s";
      break;
    }
  }
  // "the BA.2.86 variant"
  if (is_all_capitals(word) && word.size() < 4 && word != "ASN" && tokens.is(at + 1, ".") &&
      tokens.is_digits(at + 2, 1, 2) && tokens.begins_word(at)) {
    return Reading{at + 2, spell(word)};
  }
  if (is_all_capitals(core)) {
    const std::string words = beside_digits(tokens, at) && (core.size() <= 3 || !has_vowel(core)) &&
                                      !among(WordList{"acronyms"}, core)
                                  ? spell(core)
                                  : capitals_words(tokens, at, core);
    const bool letters = words.find(kLetterName) != std::string::npos;
    return Reading{
        at + 1, words + std::string(tail.empty() || letters || word.ends_with("'s") ? tail : "s")};
  }
  // "mc²", "mx + b": letters that nobody can say, beside a sign of arithmetic; "F = ma", "PV =
  // nRT", "2ab + b²": others behind an unknown's equals sign, or behind digits beside a power.
  const bool small = std::ranges::all_of(word, is_ascii_lower);
  if ((word.size() <= 3 && small && !has_small_vowel(word) && is_in_formula(tokens, at)) ||
      is_product(tokens, at)) {
    return Reading{at + 1, spell(word)};
  }
  // "mp3", "h264", "utf8": small letters beside digits that make no word.
  const bool no_word = word.find_first_of("aeiouyAEIOUY") == std::string_view::npos;
  if (word.size() <= 4 && no_word && beside_digits(tokens, at) &&
      std::ranges::all_of(word, is_ascii_letter)) {
    return Reading{at + 1, spell(word)};
  }
  return std::nullopt;
}

}  // namespace mynah
