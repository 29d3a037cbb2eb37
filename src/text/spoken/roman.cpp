// Roman numerals, and the pronoun that looks like one.
#include "text/spoken/roman.h"

#include <array>
#include <string>

#include "text/spoken/abbreviations.h"
#include "text/spoken/cardinals.h"
#include "text/spoken/characters.h"
#include "text/spoken/reading.h"
#include "text/spoken/word_tables.h"

namespace mynah {
namespace {

constexpr auto kDeterminers = std::to_array<std::string_view>(
    {"the", "this", "that", "every", "each", "any", "which", "what", "a", "an", "my", "his", "her",
     "their", "our", "your", "one", "no", "some"});

constexpr auto kBetween = std::to_array<std::string_view>({"and", "or", "to", "through"});

// The word that a numeral belongs to: directly before it, or behind the stop of a short form.
struct Named {
  std::string_view word;
  bool stop = false;   // "Vol. II"
  bool ruler = false;  // "Henry VIII"
  bool part = false;   // "Chapter IV"
};

Named named_before(const Tokens& tokens, size_t at) {
  // "a Mark-II tank"
  const bool hyphen = at > 1 && tokens.is(at - 1, "-");
  Named named{.word = hyphen ? tokens.text(at - 2) : tokens.word_before(at)};
  const size_t last = at > 0 && tokens.is_space(at - 1) ? at - 2 : at - 1;
  if (at > 2 && tokens.is(last, ".") && tokens.is_word(last - 1)) {
    named = {.word = tokens.text(last - 1), .stop = true};
  }
  const std::string lower = ascii_lower(named.word);
  const Abbreviation* const known = named.stop ? find_abbreviation(lower) : nullptr;
  const bool numbers = known != nullptr && known->stop == AbbreviationStop::BeforeNumber;
  named.part = named.stop ? numbers || among(WordList{"short-parts"}, lower)
                          : among(WordList{"numbered-parts"}, lower);
  named.ruler = !named.stop && among(WordList{"rulers"}, lower) && is_capitalised(named.word);
  return named;
}

// Whether the "I" at `at` is the pronoun: by the word behind it, as something else follows only a
// numeral. Where both can be, a word in small letters before it is a thing that somebody does
// something with ("the part I sang"), one with a capital is a name ("World War I ended").
bool is_pronoun(const Tokens& tokens, size_t at, const Named& named) {
  const size_t behind = tokens.skip_space(at + 1);
  const std::string_view next_word = tokens.word_behind(at + 1);
  const std::string_view earlier = tokens.word_before(at - 2);
  if (named.stop && (named.word == "No" || named.word == "no")) {
    return true;  // "No. I said no."
  }
  if (next_word.empty()) {
    return false;
  }
  const std::string next = ascii_lower(next_word);
  if (among(WordList{"pronoun-verbs"}, next)) {
    return true;
  }
  if (named.stop || (named.word == "war" && earlier == "world")) {
    return false;
  }
  if (!is_capitalised(named.word)) {
    // "type I and II", "phase I or phase II"
    const bool both = among(kBetween, next) && (roman_value(tokens.word_behind(behind + 1)) != 0 ||
                                                roman_value(tokens.text(behind + 4)) != 0);
    return !both && !is_capitalised(next_word) && !among(WordList{"phase-nouns"}, next);
  }
  if (named.ruler) {
    return among(WordList{"common-verbs"}, next) && !among(WordList{"ruler-titles"}, earlier);
  }
  return among(WordList{"common-verbs"}, next) && among(kDeterminers, ascii_lower(earlier));
}

// "a Mark-II tank", "Type-III": a numeral of several letters.
bool is_hyphened_part(const Tokens& tokens, size_t at, std::string_view numeral) {
  return at > 1 && tokens.is(at - 1, "-") && numeral.size() > 1 &&
         numeral.find_first_not_of("IVX") == std::string_view::npos &&
         among(WordList{"numbered-parts"}, ascii_lower(tokens.text(at - 2)));
}

// Whether the names before `at` are a person's, by a title, a given name or an initial among them:
// "John D. Rockefeller III", "Mr. Morgan III".
bool is_behind_person(const Tokens& tokens, size_t at) {
  size_t word = at;
  for (int words = 0; words < 4 && word > 1 && tokens.is_space(word - 1); ++words) {
    word -= 2;
    const bool stop = tokens.is(word, ".") && word > 0;
    word -= stop ? 1 : 0;
    const std::string_view name = tokens.text(word);
    if (!tokens.is_word(word) || !is_title_case(name)) {
      return false;
    }
    const std::string lower = ascii_lower(name);
    if (among(WordList{"given-names"}, lower) || (stop && name.size() == 1) ||
        (words > 0 && among(WordList{"person-titles"}, lower))) {
      return true;
    }
  }
  return false;
}

// "II", "I.", "II. The Mill", "IV: Home" where the text begins: a heading's number. A letter alone
// with its stop is one where no sentence follows, and else an initial: "V. Woolf wrote it."
std::optional<Reading> read_heading(const Tokens& tokens, size_t at, std::string_view numeral,
                                    const std::string& words) {
  constexpr auto kMarks = std::to_array<std::string_view>({":", "\u2014", "\u2013", "-", ")", ","});
  if (at != 0 || small_roman_value(ascii_lower(numeral)) == 0 || numeral == "L") {
    return std::nullopt;
  }
  const bool stop = tokens.is(at + 1, ".");
  if (tokens.ends_text(at + 1) || (stop && tokens.ends_text(at + 2))) {
    return Reading{at + 1, words};
  }
  const bool sentence =
      std::string_view(".?!").find(tokens.source().back()) != std::string_view::npos;
  const size_t next = tokens.skip_space(at + 1);
  const bool alone = numeral.size() == 1;
  if (stop && tokens.is_space(at + 2) && (!alone || !sentence)) {
    return Reading{at + 2, words + ","};
  }
  const bool marked = among(kMarks, tokens.text(next)) && !(tokens.is(next, "-") && next == at + 1);
  if (marked && (!alone || !sentence) && tokens.is_space(next + 1)) {
    return Reading{at + 1, words};
  }
  // "IV The Mill"
  const std::string_view title = tokens.text(next);
  const bool titled = !alone && !sentence && next > at + 1 && is_capitalised(title) &&
                      is_sentence_starter(ascii_lower(title));
  return titled ? std::optional(Reading{at + 1, words + ","}) : std::nullopt;
}

// Whether the numeral stands in brackets of its own and counts: "(ii)", and "(i)" where "(ii)"
// follows or "(v)" behind "(iv)".
bool is_bracketed_count(const Tokens& tokens, size_t at, unsigned value) {
  constexpr size_t kNear = 96;  // tokens
  // "f(xx)" calls something.
  const bool call = at > 1 && tokens.is_word(at - 2);
  if (at == 0 || !tokens.is(at - 1, "(") || !tokens.is(at + 1, ")") || value == 0 || call) {
    return false;
  }
  if (tokens.text(at).size() > 1) {
    return true;
  }
  const size_t begin = at > kNear ? at - kNear : 1;
  for (size_t i = begin; i < at + kNear && !tokens.is_end(i); ++i) {
    const bool count = tokens.is(i - 1, "(") && tokens.is(i + 1, ")") && tokens.text(i).size() > 1;
    const unsigned other = count ? small_roman_value(tokens.text(i)) : 0;
    if (other != 0 && (other == value + 1 || other + 1 == value)) {
      return true;
    }
  }
  return false;
}

// Where a range of numerals ends, "pp. iv\u2013x", "Chapters I-IV", and its last one; 0: there is
// no range.
struct Last {
  size_t end = 0;
  unsigned value = 0;
};

Last last_of_range(const Tokens& tokens, size_t dash, unsigned first) {
  if (!tokens.is(dash, "-") && !tokens.is(dash, "\u2013")) {
    return {};
  }
  const std::string_view numeral = tokens.text(dash + 1);
  const unsigned value =
      is_capitalised(numeral) ? roman_value(numeral) : small_roman_value(numeral);
  const bool higher = value > first && tokens.ends_word(dash + 2);
  return higher ? Last{.end = dash + 2, .value = value} : Last{};
}

// "types I and II", "Parts I, II, and III", "James I & II": whether the numeral goes on with a row
// that begins with one of a part or of a ruler.
enum class Row { None, Parts, Rulers };

Row row_of(const Tokens& tokens, size_t at) {
  constexpr int kMost = 12;
  bool counts = true;  // one after the other
  for (int i = 0; i < kMost; ++i) {
    size_t gap = at;
    if (among(kBetween, tokens.word_before(gap)) && gap > 2) {
      gap -= 2;
    }
    const bool joined = gap < at;
    const size_t comma = gap > 1 && tokens.is_space(gap - 1) ? gap - 2 : gap;
    const bool listed = gap > 1 && (tokens.is(comma, ",") || tokens.is(comma, "&"));
    if (gap < 2 || (!joined && !listed)) {
      return Row::None;
    }
    size_t first = listed ? comma - 1 : comma;
    if (tokens.is_space(first) && first > 0) {
      --first;  // "I & II"
    }
    if (!tokens.is_word(first) || roman_value(tokens.text(first)) == 0) {
      return Row::None;
    }
    const Named named = named_before(tokens, first);
    if (named.part || named.ruler) {
      return named.part ? Row::Parts : Row::Rulers;
    }
    // "I, II, III and IV" alone
    const unsigned value = roman_value(tokens.text(first));
    counts = counts && roman_value(tokens.text(at)) == value + 1;
    if (counts && value == 1) {
      return Row::Parts;
    }
    at = first;
  }
  return Row::None;
}

// The number, or a range from it on.
Reading numbers_words(const Tokens& tokens, size_t at, unsigned value, EnglishDialect dialect) {
  std::string words = cardinal_words(std::to_string(value), dialect);
  const Last last = last_of_range(tokens, at + 1, value);
  if (last.end == 0) {
    return {at + 1, std::move(words)};
  }
  return {last.end, words + " to " + cardinal_words(std::to_string(last.value), dialect)};
}

// "scene ii", "p. xii": small letters, behind what is numbered so. One alone is a letter, but for a
// page's.
std::optional<Reading> read_small_roman(const Tokens& tokens, size_t at, EnglishDialect dialect) {
  constexpr auto kNumbered = std::to_array<std::string_view>(
      {"scene", "act",     "chapter",  "part",   "section",  "book",     "volume",
       "page",  "pages",   "appendix", "figure", "table",    "canto",    "stanza",
       "type",  "phase",   "chapters", "parts",  "sections", "clause",   "clauses",
       "item",  "article", "note",     "step",   "volumes",  "paragraph"});
  constexpr auto kPages = std::to_array<std::string_view>({"p", "pp", "pg", "page", "pages"});
  const std::string_view numeral = tokens.text(at);
  const unsigned value = small_roman_value(numeral);
  if (is_bracketed_count(tokens, at, value)) {
    return Reading{at + 1, cardinal_words(std::to_string(value), dialect)};
  }
  const Named named = named_before(tokens, at);
  const std::string before = ascii_lower(named.word);
  const bool page = among(kPages, before);
  // "pages xiv and xv"
  const size_t first = at > 4 && tokens.is_space(at - 1) && tokens.is_space(at - 3) ? at - 4 : at;
  const bool second = first < at && (before == "and" || before == "or" || before == "to") &&
                      numeral.size() > 1 && small_roman_value(tokens.text(first)) != 0 &&
                      small_roman_value(tokens.text(first)) < value;
  const bool numbered =
      second || (named.stop ? page || named.part : page || among(kNumbered, before));
  if (value == 0 || !numbered || (numeral.size() == 1 && !(page && named.stop))) {
    return std::nullopt;
  }
  return numbers_words(tokens, at, value, dialect);
}

}  // namespace

unsigned roman_value(std::string_view numeral) {
  struct Step {
    std::string_view written;
    unsigned value;
    unsigned times;
  };

  constexpr std::array kSteps = std::to_array<Step>({{"M", 1000, 3},
                                                     {"CM", 900, 1},
                                                     {"D", 500, 1},
                                                     {"CD", 400, 1},
                                                     {"C", 100, 3},
                                                     {"XC", 90, 1},
                                                     {"L", 50, 1},
                                                     {"XL", 40, 1},
                                                     {"X", 10, 3},
                                                     {"IX", 9, 1},
                                                     {"V", 5, 1},
                                                     {"IV", 4, 1},
                                                     {"I", 1, 3}});
  unsigned value = 0;
  for (const Step& step : kSteps) {
    for (unsigned i = 0; i < step.times && numeral.starts_with(step.written); ++i) {
      value += step.value;
      numeral.remove_prefix(step.written.size());
      // After a subtraction its first letter does not come again: "IXI", "CMC".
      if (step.written.size() == 2 && numeral.starts_with(step.written[0])) {
        return 0;
      }
    }
  }
  return numeral.empty() ? value : 0;
}

unsigned small_roman_value(std::string_view numeral) {
  if (numeral.empty() || numeral.size() > 7 ||
      numeral.find_first_not_of("ivxl") != std::string_view::npos) {
    return 0;
  }
  return roman_value(ascii_upper(numeral));
}

std::optional<Reading> read_roman(const Tokens& tokens, size_t at, const SpokenOptions& options) {
  std::string_view numeral = tokens.text(at);
  const std::string_view tail = numeral.ends_with("'s") ? "'s" : "";  // "Louis XVI's"
  numeral.remove_suffix(tail.size());
  if (!tokens.is_word(at) || numeral.empty() || numeral.size() > 15 ||
      !(tokens.begins_word(at) || is_hyphened_part(tokens, at, numeral)) ||
      !tokens.ends_word(at + 1) || tokens.is(at + 1, "'")) {
    return std::nullopt;
  }
  if (is_ascii_lower(numeral[0])) {
    return tail.empty() ? read_small_roman(tokens, at, options.dialect) : std::nullopt;
  }
  const unsigned value = roman_value(numeral);
  if (value == 0) {
    return std::nullopt;
  }
  const std::string digits = std::to_string(value);
  const auto say = [&](std::string words) { return Reading{at + 1, std::move(words) += tail}; };
  if (tail.empty()) {
    if (auto heading = read_heading(tokens, at, numeral, cardinal_words(digits, options.dialect))) {
      return heading;
    }
  }
  const Named named = named_before(tokens, at);
  const std::string before = ascii_lower(named.word);
  const bool ivx = numeral.find_first_not_of("IVX") == std::string_view::npos;
  if (numeral.size() > 1 || ivx) {
    if (among(WordList{"ordinal-nouns"}, tokens.word_behind(at + 1)) && !named.part) {
      return say(ordinal_words(digits, options.dialect));
    }
  }
  const bool person = ivx && numeral != "I" && numeral != "X" && !named.part && !named.stop &&
                      is_behind_person(tokens, at);
  // "I, II, III and IV" alone
  const bool begins_row = numeral == "I" && tokens.is(at + 1, ",") && tokens.is_space(at + 2) &&
                          tokens.is(at + 3, "II");
  const Row row = begins_row ? Row::Parts : row_of(tokens, at);
  const bool second = row != Row::None;
  if (numeral.size() == 1 && (!ivx || (!named.part && !named.ruler && !person && !second) ||
                              (numeral == "X" && (before == "type" || before == "factor" ||
                                                  before == "level" || before == "class")))) {
    return std::nullopt;
  }
  if (numeral == "I" && !begins_row && (second || is_pronoun(tokens, at, named))) {
    return std::nullopt;
  }
  if ((named.ruler || person || row == Row::Rulers) && ivx) {
    return say("the " + ordinal_words(digits, options.dialect));
  }
  if (named.part || second) {
    return tail.empty() ? numbers_words(tokens, at, value, options.dialect)
                        : say(cardinal_words(digits, options.dialect));
  }
  // Behind any other name, and alone where nothing else is written so.
  const bool name = !named.stop && is_title_case(named.word) && named.word.size() > 1 &&
                    !is_sentence_starter(before) && !among(kDeterminers, before);
  if (ivx && (name || numeral.size() > 2) && numeral != "XX" && numeral != "XXX") {
    return say(cardinal_words(digits, options.dialect));
  }
  if (!ivx && numeral.size() > 3) {
    return say(year_words(digits, options.dialect));
  }
  return std::nullopt;
}

}  // namespace mynah
