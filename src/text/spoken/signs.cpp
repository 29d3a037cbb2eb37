// Signs that are said, and those that are not.
#include <algorithm>
#include <array>
#include <string>

#include "text/spoken/calendar.h"
#include "text/spoken/cardinals.h"
#include "text/spoken/characters.h"
#include "text/spoken/quantity.h"
#include "text/spoken/reading.h"
#include "text/spoken/strokes.h"
#include "text/spoken/word_tables.h"
#include "text/utf8.h"

namespace mynah {
namespace {

constexpr size_t kLongestRun = 64;

// How signs of data/signs.tsv, and Greek letters, are said.
std::optional<std::string_view> sign_words(std::string_view signs) {
  const TableRow* const row = find_row(WordTable::Signs, signs);
  return row == nullptr ? std::nullopt : std::optional((*row)[1]);
}

size_t letters_in(std::string_view word) {
  return static_cast<size_t>(std::ranges::count_if(
      word, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

// "²", "⁻¹²": the exponent's digits with its sign, and where it ends.
struct Exponent {
  size_t end = 0;
  bool minus = false;
  std::string digits;
};

Exponent exponent_at(const Tokens& tokens, size_t at) {
  constexpr std::u32string_view kSuperscripts =
      U"\u2070\u00B9\u00B2\u00B3\u2074\u2075\u2076\u2077\u2078\u2079";
  Exponent exponent{.end = at, .digits = {}};
  if (tokens.is(at, "\u207B")) {
    exponent.minus = true;
    ++exponent.end;
  }
  while (exponent.digits.size() < 6) {
    const char32_t c = next_code_point(tokens.text(exponent.end)).code_point;
    const size_t digit = kSuperscripts.find(c);
    if (digit == std::u32string_view::npos) {
      break;
    }
    exponent.digits += static_cast<char>('0' + digit);
    ++exponent.end;
  }
  return exponent;
}

std::optional<Reading> read_exponent(const Tokens& tokens, size_t at,
                                     const SpokenOptions& options) {
  const Exponent exponent = exponent_at(tokens, at);
  if (exponent.digits.empty()) {
    return std::nullopt;
  }
  const std::string_view base = at > 0 ? tokens.text(at - 1) : std::string_view{};
  const bool value =
      tokens.is_digits(at - 1) || base == ")" || (tokens.is_word(at - 1) && letters_in(base) <= 2);
  if (at == 0 || !value) {
    return Reading{exponent.end, ""};  // a note's number behind a word
  }
  if (!exponent.minus && (exponent.digits == "2" || exponent.digits == "3")) {
    return Reading{exponent.end, exponent.digits == "2" ? "squared" : "cubed"};
  }
  std::string words = std::string("to the power of ") + (exponent.minus ? "minus " : "") +
                      cardinal_words(exponent.digits, options.dialect);
  // "10⁻³ m/s"
  if (tokens.is_digits(at - 1) && tokens.is_space(exponent.end)) {
    if (const auto unit = unit_at(tokens, exponent.end, false, options.dialect)) {
      return Reading{unit->end, words + " " + unit->words};
    }
  }
  return Reading{exponent.end, std::move(words)};
}

// "H₂O"
std::optional<Reading> read_subscript(const Tokens& tokens, size_t at,
                                      const SpokenOptions& options) {
  const char32_t c = next_code_point(tokens.text(at)).code_point;
  if (c < 0x2080 || c > 0x2089) {
    return std::nullopt;
  }
  std::string digits;
  size_t end = at;
  for (char32_t next = c; next >= 0x2080 && next <= 0x2089 && digits.size() < 6;) {
    digits += static_cast<char>('0' + (next - 0x2080));
    ++end;
    next = next_code_point(tokens.text(end)).code_point;
  }
  std::string words = cardinal_words(digits, options.dialect);
  return Reading{end, at > 0 && tokens.is(at - 1, "log") ? "base " + words + " of" : words};
}

// Words of "#BlackLivesMatter" and "@john_doe": apart at capitals, digits and underscores.
std::string handle_words(const Tokens& tokens, size_t at, size_t end,
                         const SpokenOptions& options) {
  std::string words;
  for (size_t i = at; i < end; ++i) {
    const std::string_view text = tokens.text(i);
    if (tokens.is_digits(i)) {
      words = join_words(words, text.size() == 4 ? year_words(text, options.dialect)
                                                 : cardinal_words(text, options.dialect));
      continue;
    }
    if (is_all_capitals(text)) {
      words = join_words(words, text.size() <= 4 ? spell(text) : ascii_lower(text));
      continue;
    }
    size_t begin = 0;
    for (size_t c = 1; tokens.is_word(i) && c <= text.size(); ++c) {
      if (c == text.size() || (is_ascii_upper(text[c]) && is_ascii_lower(text[c - 1]))) {
        words = join_words(words, text.substr(begin, c - begin));
        begin = c;
      }
    }
  }
  return words;
}

size_t handle_end(const Tokens& tokens, size_t at) {
  size_t end = at;
  while (end - at < 16 &&
         (tokens.is_value(end) || (tokens.is(end, "_") && tokens.is_value(end + 1)))) {
    ++end;
  }
  return end;
}

std::optional<Reading> read_handle(const Tokens& tokens, size_t at, const SpokenOptions& options) {
  const bool hash = tokens.is(at, "#");
  if (!hash && !tokens.is(at, "@")) {
    return std::nullopt;
  }
  if (hash && tokens.is_digits(at + 1) && tokens.begins_word(at)) {
    return Reading{at + 1, "number"};
  }
  // "Order #A-1029"
  const size_t digits = tokens.is(at + 2, "-") ? at + 3 : at + 2;
  if (hash && tokens.begins_word(at) && tokens.text(at + 1).size() <= 3 &&
      is_capitalised(tokens.text(at + 1)) && tokens.is_digits(digits) &&
      (digits == at + 3 || tokens.text(digits).size() > 2)) {
    return Reading{at + 1, "number"};
  }
  if (tokens.begins_word(at) && tokens.is_word(at + 1)) {
    const size_t end = handle_end(tokens, at + 1);
    return Reading{end, (hash ? "hashtag " : "at ") + handle_words(tokens, at + 1, end, options)};
  }
  if (hash && at > 0 && tokens.is_word(at - 1) && tokens.text(at - 1).size() == 1) {
    return Reading{at + 1, "sharp"};
  }
  return Reading{at + 1, hash ? "hash" : "at"};
}

// "∫₀¹": the bounds below and above.
std::optional<Reading> read_integral(const Tokens& tokens, size_t at,
                                     const SpokenOptions& options) {
  if (!tokens.is(at, "\u222B")) {
    return std::nullopt;
  }
  const auto below = read_subscript(tokens, at + 1, options);
  const Exponent above = below ? exponent_at(tokens, below->end) : Exponent{};
  if (above.digits.empty()) {
    return std::nullopt;
  }
  return Reading{above.end, "the integral from " + below->words + " to " +
                                (above.minus ? "minus " : "") +
                                cardinal_words(above.digits, options.dialect) + " of"};
}

// "ΔT", "πr": a Greek letter beside one or two others is said by its name, and so are they.
std::optional<Reading> read_greek(const Tokens& tokens, size_t at) {
  const std::string_view word = tokens.text(at);
  if (const auto greek = sign_words(word)) {
    return Reading{at + 1, std::string(*greek)};
  }
  std::string words;
  size_t greek_letters = 0;
  for (size_t i = 0; i < word.size() && letters_in(word) <= 3;) {
    const size_t bytes = next_code_point(word.substr(i)).bytes;
    const std::string_view letter = word.substr(i, bytes);
    const auto greek = bytes > 1 ? sign_words(letter) : std::nullopt;
    if (bytes > 1 && !greek) {
      return std::nullopt;
    }
    greek_letters += bytes > 1 ? 1 : 0;
    words = join_words(words, greek ? std::string(*greek) : spell(letter));
    i += bytes;
  }
  return greek_letters == 1 ? std::optional(Reading{at + 1, std::move(words)}) : std::nullopt;
}

// Whether a sentence or what somebody says begins at `at`: the text does, or an opening quote or
// bracket stands there, or a stop before the space.
bool begins_speech(const Tokens& tokens, size_t at) {
  const size_t last = at > 0 && tokens.is_space(at - 1) ? at - 1 : at;
  if (last == 0) {
    return true;
  }
  const std::string_view mark = tokens.text(last - 1);
  return tokens.kind(last - 1) == Token::Kind::Mark &&
         std::string_view(".?!\"(:\u201C\u201D\u2026").find(mark) != std::string_view::npos;
}

// "--but I thought so", "-Who? -Me.", "the end.--Then": dashes that somebody pauses at; not
// "--no-cache" nor "-v".
bool is_pause(const Tokens& tokens, size_t at, size_t end) {
  const std::string_view next = tokens.text(end);
  const bool option =
      (tokens.is(end + 1, "-") && tokens.is_word(end + 2)) || tokens.is(end + 1, "=");
  if (!begins_speech(tokens, at)) {
    return false;
  }
  if (end - at > 1) {
    const bool word_behind = is_title_case(next) || (at > 0 && !tokens.is_space(at - 1)) ||
                             !tokens.word_behind(end + 1).empty();
    return !option && word_behind;
  }
  return is_title_case(next) && (next.size() > 1 || next == "I" || next == "A");
}

// Hyphens and dashes.
std::optional<Reading> read_dash(const Tokens& tokens, size_t at) {
  const bool hyphen = tokens.is(at, "-");
  const bool en_dash = tokens.is(at, "\u2013");
  if (!hyphen && !en_dash) {
    return std::nullopt;
  }
  size_t end = at;
  while (tokens.is(end, tokens.text(at)) && end - at < kLongestRun) {
    ++end;
  }
  if (end - at > 3 || (at == 0 && (tokens.is_space(end) || tokens.is_end(end)))) {
    return Reading{end, ""};  // a line across the page; a list's item
  }
  const size_t name = at > 1 && tokens.is(at - 1, ".") ? at - 2 : at - 1;
  const bool calendar = at > 0 && !calendar_name(tokens.text(name)).empty() &&
                        !calendar_name(tokens.text(end)).empty();
  if (calendar) {
    return Reading{end, "to"};
  }
  // "$x$-axis": a formula is a value too.
  const bool behind = tokens.is_value(end);
  // "10-ft.-tall"
  const bool cut = at > 1 && hyphen && tokens.is(at - 1, ".") && tokens.is_word(at - 2) &&
                   tokens.is_word(end) && is_ascii_lower(tokens.text(end)[0]);
  // "will-o'-the-wisp"
  const bool clipped = at > 1 && tokens.is(at - 1, "'") && tokens.is_word(at - 2) && hyphen;
  const bool before = at > 0 && (clipped || tokens.is_value(at - 1) || tokens.is(at - 1, "$") ||
                                 (cut && end - at == 1));
  if (end - at > 1) {
    const bool pause = before || !behind || is_pause(tokens, at, end);
    return Reading{end, pause ? "\u2014" : "dash dash"};
  }
  // "n-1"
  constexpr auto kUnknowns = std::to_array<std::string_view>({"n", "x", "y", "k"});
  if (hyphen && end - at == 1 && at > 0 && among(kUnknowns, tokens.text(at - 1)) &&
      tokens.begins_word(at - 1) && tokens.is_digits(end, 1, 2) && tokens.ends_word(end + 1)) {
    return Reading{end, "minus"};
  }
  // "10 kHz\u201320 MHz", "noon-1pm"
  constexpr auto kNamedTimes =
      std::to_array<std::string_view>({"noon", "Noon", "midnight", "Midnight"});
  const size_t amount = at > 2 && tokens.is_space(at - 2) ? at - 3 : at - 2;
  const bool unit = en_dash && at > 2 && tokens.is_word(at - 1) && tokens.is_digits(amount);
  if (tokens.is_digits(end) && at > 0 && (unit || among(kNamedTimes, tokens.text(at - 1)))) {
    return Reading{end, "to"};
  }
  if (before && behind) {
    return Reading{end, tokens.is_digits(end) ? " " : "-"};
  }
  if (tokens.is_digits(tokens.skip_space(end)) && at > 1 && tokens.is_digits(at - 2) && hyphen) {
    return Reading{end, "minus"};
  }
  // "F = -kx"
  if (hyphen && at > 1 && tokens.is_space(at - 1) && tokens.is(at - 2, "=") &&
      tokens.is_word(at + 1) && tokens.text(at + 1).size() < 3) {
    return Reading{end, "minus"};
  }
  if (hyphen && behind && tokens.begins_word(at)) {
    if (is_pause(tokens, at, end)) {
      return Reading{end, at == 0 ? "" : "\u2014"};
    }
    return Reading{end, "dash"};
  }
  // "pre- and postwar": the hyphen is not heard.
  return before && hyphen ? Reading{end, ""} : Reading{end, "\u2014"};
}

// "f(x)", "P(A)": a function of one letter.
std::optional<Reading> read_function(const Tokens& tokens, size_t at) {
  const auto is_letter = [&](size_t i) {
    return tokens.is_word(i) && tokens.text(i).size() == 1 && is_ascii_letter(tokens.text(i)[0]);
  };
  constexpr auto kNames = std::to_array<std::string_view>({"f", "g", "h", "F", "G", "P", "p", "u"});
  // "f'(x)"
  if (tokens.is(at, "'") && at > 0 && among(kNames, tokens.text(at - 1)) &&
      tokens.is(at + 1, "(") && (is_letter(at + 2) || tokens.is_digits(at + 2)) &&
      tokens.is(at + 3, ")")) {
    const std::string_view of = tokens.text(at + 2);
    return Reading{
        at + 4, "prime of " +
                    (is_letter(at + 2) ? spell(of) : cardinal_words(of, EnglishDialect::American))};
  }
  const bool number = tokens.is_digits(at + 1, 1, 3) && tokens.is(at + 2, ")");
  if (!tokens.is(at, "(") || at == 0 || !among(kNames, tokens.text(at - 1)) ||
      !(is_letter(at + 1) || number)) {
    return std::nullopt;
  }
  if (number) {
    const bool equation = tokens.is(tokens.skip_space(at + 3), "=");
    return equation
               ? std::optional(Reading{
                     at + 3, "of " + cardinal_words(tokens.text(at + 1), EnglishDialect::American)})
               : std::nullopt;
  }
  // "P(A|B)"
  if (tokens.is(at + 2, "|") && is_letter(at + 3) && tokens.is(at + 4, ")")) {
    return Reading{at + 5,
                   "of " + spell(tokens.text(at + 1)) + " given " + spell(tokens.text(at + 3))};
  }
  if (!tokens.is(at + 2, ")")) {
    return std::nullopt;
  }
  return Reading{at + 3, "of " + spell(tokens.text(at + 1))};
}

// Signs that are said only between values.
std::optional<Reading> read_operator(const Tokens& tokens, size_t at) {
  const std::string_view sign = tokens.text(at);
  const size_t next = tokens.skip_space(at + 1);
  const size_t last = at > 0 && tokens.is_space(at - 1) ? at - 2 : at - 1;
  const bool values =
      tokens.is_value(next) && at > 0 && (tokens.is_value(last) || tokens.is(last, ")"));
  const bool spaced = tokens.is_space(at + 1) && at > 0 && tokens.is_space(at - 1);
  // "x ** 2"
  if (sign == "*" && tokens.is(at + 1, "*") && tokens.is_space(at + 2) && tokens.is_value(at + 3) &&
      at > 1 && tokens.is_space(at - 1) && tokens.is_value(at - 2)) {
    return Reading{at + 2, "to the power of"};
  }
  // "Dial *67"
  constexpr auto kDialled = std::to_array<std::string_view>({"dial", "Dial", "press", "Press"});
  if (sign == "*" && tokens.is_digits(at + 1) && among(kDialled, tokens.word_before(at))) {
    return Reading{at + 1, "star"};
  }
  if (sign == "*" || sign == "\u00B7") {
    const bool times = values && (spaced || tokens.is_digits(last)) && tokens.is_digits(next);
    return Reading{at + 1, times ? "times" : ""};
  }
  if (sign == "<" || sign == ">") {
    // "p < .001", "x < \u22125", "under < $5"
    const bool number = (tokens.is(next, ".") || tokens.is(next, "-") ||
                         tokens.is(next, "\u2212") || tokens.is(next, "$")) &&
                        tokens.is_digits(next + 1) && at > 0 && tokens.is_value(last);
    const bool compares = (values && spaced) || number || (tokens.is_digits(next) && at > 0) ||
                          (tokens.is_digits(next) && sign == "<");
    return Reading{at + 1, compares ? (sign == "<" ? "less than" : "greater than") : ""};
  }
  if (sign == "^") {
    if (values && next == at + 1 && (tokens.is(next, "2") || tokens.is(next, "3"))) {
      return Reading{next + 1, tokens.is(next, "2") ? "squared" : "cubed"};
    }
    const bool bracket = tokens.is(at + 1, "(") && at > 0 && tokens.is_value(at - 1);
    return Reading{at + 1, values || bracket || tokens.is(next, "-") ? "to the power of" : ""};
  }
  if (sign == "~") {
    return Reading{at + 1, tokens.is_digits(next) || tokens.is(next, "$") ? "about" : ""};
  }
  if (sign == "|") {
    return Reading{at + 1, values && spaced ? "," : ""};
  }
  if (sign == "\\") {
    return Reading{at + 1, tokens.is_value(at + 1) && last + 1 == at && values ? "backslash" : ""};
  }
  // "y_1"
  if (sign == "_" && at > 0 && !(at > 1 && tokens.is(at - 2, "_")) &&
      tokens.text(at - 1).size() == 1 && tokens.is_word(at - 1) && tokens.begins_word(at - 1) &&
      tokens.ends_word(at + 2) &&
      (tokens.is_digits(at + 1, 1, 2) ||
       (tokens.text(at + 1).size() == 1 && tokens.is(tokens.skip_space(at + 2), "=")))) {
    return Reading{at + 1, "sub"};
  }
  if (sign == "_") {
    return Reading{at + 1,
                   values && !spaced && next == at + 1 && last + 1 == at ? "underscore" : ""};
  }
  if (sign == "+") {
    return Reading{at + 1, "plus"};
  }
  // "5! = 120"
  if (sign == "!" && at > 0 && tokens.is_value(at - 1) && tokens.is(next, "=")) {
    return Reading{at + 1, "factorial"};
  }
  return std::nullopt;
}

// ".NET" and "a.b": a stop with no space behind it is said.
std::optional<Reading> read_stop(const Tokens& tokens, size_t at) {
  if (!tokens.is(at, ".")) {
    return std::nullopt;
  }
  if (tokens.is_word(at + 1) && (tokens.begins_word(at) || tokens.is_value(at - 1))) {
    return Reading{at + 1, "dot"};
  }
  if (at > 0 && tokens.is_digits(at - 1) && tokens.is_digits(at + 1)) {
    return Reading{at + 1, "point"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Reading> read_sign(const Tokens& tokens, size_t at, const SpokenOptions& options) {
  if (tokens.is_word(at)) {
    return read_greek(tokens, at);
  }
  if (tokens.kind(at) != Token::Kind::Mark) {
    return std::nullopt;
  }
  // "[12]" behind a word is a reference.
  if (tokens.is(at, "[") && at > 0 && !tokens.is_space(at - 1) && tokens.is_digits(at + 1, 1, 3) &&
      tokens.is(at + 2, "]")) {
    return Reading{at + 3, ""};
  }
  // "not ≥50%", "ages >=18"
  const bool wide = tokens.text(at, at + 2) == ">=" || tokens.text(at, at + 2) == "<=";
  const bool least = tokens.is(at, "\u2265") || (wide && tokens.is(at, ">"));
  const bool most = tokens.is(at, "\u2264") || (wide && tokens.is(at, "<"));
  const size_t sign_end = at + (wide ? 2 : 1);
  if ((least || most) && tokens.is_digits(sign_end) && tokens.begins_word(at) &&
      (at == 0 || tokens.word_before(at).size() > 1)) {
    return Reading{sign_end, least ? "at least" : "at most"};
  }
  for (size_t length = 3; length > 1; --length) {
    if (const auto run = sign_words(tokens.text(at, at + length))) {
      return Reading{at + length, std::string(*run)};
    }
  }
  for (const Reader reader :
       {read_integral, read_exponent, read_subscript, read_handle, read_price_divisor}) {
    if (auto reading = reader(tokens, at, options)) {
      return reading;
    }
  }
  for (const auto reader : {read_function, read_stroke, read_dash, read_operator, read_stop}) {
    if (auto reading = reader(tokens, at)) {
      return reading;
    }
  }
  // "2 m × 3 m × 4 m"
  constexpr auto kLengths = std::to_array<std::string_view>({"m", "cm", "mm", "ft", "km", "in"});
  const size_t unit = at > 1 && tokens.is_space(at - 1) ? at - 2 : at - 1;
  if (tokens.is(at, "\u00D7") && at > 1 && among(kLengths, tokens.text(unit)) &&
      tokens.is_digits(tokens.skip_space(at + 1))) {
    return Reading{at + 1, "by"};
  }
  if (tokens.is(at, "\u00A7")) {
    return Reading{at + 1, "section"};
  }
  // "$AAPL" is a share, "$path" a variable.
  if (tokens.is(at, "$") && tokens.is_word(at + 1)) {
    const std::string_view name = tokens.text(at + 1);
    return Reading{at + 1, is_all_capitals(name) && name.size() < 6 ? "" : "dollar"};
  }
  if (const auto sign = sign_words(tokens.text(at))) {
    return Reading{at + 1, std::string(*sign)};
  }
  return std::nullopt;
}

}  // namespace mynah
