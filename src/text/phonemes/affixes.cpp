#include "text/phonemes/affixes.h"

#include <algorithm>
#include <array>

#include "text/phonemes/letters.h"
#include "text/unicode.h"

namespace mynah {
namespace {

constexpr std::u32string_view kQuotes = U"'\"”“`‘´’‚,„»«「」『』（）〔〕【】《》〈〉";
constexpr std::u32string_view kPunctuation = U"…,:;!?¿¡()[]{}<>_#*&。？！，、；：～·";
constexpr std::u32string_view kIcons = U"™®©°§¶†‡•";
constexpr std::u32string_view kSignsBefore = U"§%=—–";
constexpr std::u32string_view kCurrencySigns = U"$£€¥฿₽₹₩₪₺₴₦₫₱₲₵₸₼₾₿";
constexpr std::array<std::u32string_view, 3> kCurrencyNames = {U"US$", U"C$", U"A$"};
constexpr std::array<std::u32string_view, 47> kUnits = {
    U"km", U"km²", U"km³", U"m",  U"m²",  U"m³",   U"dm",  U"dm²", U"dm³", U"cm", U"cm²",  U"cm³",
    U"mm", U"mm²", U"mm³", U"ha", U"µm",  U"nm",   U"yd",  U"in",  U"ft",  U"kg", U"g",    U"mg",
    U"µg", U"t",   U"lb",  U"oz", U"m/s", U"km/h", U"kmh", U"mph", U"hPa", U"Pa", U"mbar", U"mb",
    U"MB", U"kb",  U"KB",  U"gb", U"GB",  U"tb",   U"TB",  U"T",   U"G",   U"M",  U"K"};
constexpr std::array<std::u32string_view, 4> kPossessives = {U"'s", U"'S", U"’s", U"’S"};

bool is_among(char32_t c, std::u32string_view set) {
  return set.find(c) != std::u32string_view::npos;
}

// A quote, a mark or a sign that is cut off wherever it stands.
bool is_cut_off(char32_t c) {
  return is_among(c, kPunctuation) || is_among(c, kQuotes) || is_among(c, kIcons);
}

// The run of dots that begins there.
size_t dots(std::u32string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && text[end] == U'.') {
    ++end;
  }
  return end - at;
}

// Whether `end` stands at the end of the text behind a character that `before` accepts.
template <class Before>
bool ends_behind(std::u32string_view text, std::u32string_view end, Before before) {
  return text.size() > end.size() && text.ends_with(end) &&
         before(text[text.size() - end.size() - 1]);
}

// Whether a full stop at the end is one of its own, and no part of an abbreviation.
bool ends_with_full_stop(std::u32string_view text) {
  if (text.size() < 2 || text.back() != U'.') {
    return false;
  }
  const char32_t before = text[text.size() - 2];
  const char32_t before2 = text.size() > 2 ? text[text.size() - 3] : U'\0';
  return is_ascii_digit(before) || is_latin_lower(before) || is_among(before, U"%²-+") ||
         is_among(before, kPunctuation) || is_among(before, kQuotes) ||
         (before2 == U'°' && is_among(before, U"FfCcKk")) ||
         (is_latin_upper(before) && is_latin_upper(before2));
}

size_t unit_length(std::u32string_view text) {
  size_t length = 0;
  const auto consider = [&](std::u32string_view unit) {
    if (unit.size() > length && ends_behind(text, unit, is_ascii_digit)) {
      length = unit.size();
    }
  };
  std::ranges::for_each(kUnits, consider);
  std::ranges::for_each(kCurrencyNames, consider);
  consider(U"%");
  if (length == 0 && text.size() > 1 && is_among(text.back(), kCurrencySigns) &&
      is_ascii_digit(text[text.size() - 2])) {
    length = 1;
  }
  return length;
}

// re's [^\W_]: a letter or a number.
bool is_letter_or_number(char32_t c) {
  return c != U'_' && is_word_character(c);
}

// A dash between words at `at`: one of its spellings with a letter behind it.
size_t dash_length(std::u32string_view text, size_t at) {
  constexpr std::array<std::u32string_view, 7> kDashes = {U"-",   U"–",  U"—", U"--",
                                                          U"---", U"——", U"~"};
  for (const std::u32string_view dash : kDashes) {
    const size_t next = at + dash.size();
    if (text.substr(at).starts_with(dash) && next < text.size() && is_word_letter(text[next])) {
      return dash.size();
    }
  }
  return 0;
}

// The length of the infix that begins at `at`, or 0.
size_t infix_length(std::u32string_view text, size_t at) {
  const char32_t c = text[at];
  if (c == U'.' && dots(text, at) > 1) {
    return dots(text, at);
  }
  if (c == U'…' || is_among(c, kIcons)) {
    return 1;
  }
  if (at == 0 || at + 1 == text.size()) {
    return 0;
  }
  const char32_t before = text[at - 1];
  const char32_t after = text[at + 1];
  const bool between = (is_among(c, U"+-*^") && is_ascii_digit(before) &&
                        (is_ascii_digit(after) || after == U'-')) ||
                       (c == U'.' && (is_latin_lower(before) || is_among(before, kQuotes)) &&
                        (is_latin_upper(after) || is_among(after, kQuotes))) ||
                       (c == U',' && is_word_letter(before) && is_word_letter(after));
  if (between) {
    return 1;
  }
  if (!is_letter_or_number(before)) {
    return 0;
  }
  if (const size_t dash = dash_length(text, at)) {
    return dash;
  }
  return is_among(c, U":<>=/") && is_word_letter(after) ? 1 : 0;
}

// A name of hosts: letters, digits, "_" and "-".
bool is_label(std::u32string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char32_t c) { return c == U'-' || is_word_character(c); });
}

// Labels between dots, at least two; the last one is handed to `accepts`.
template <class Accepts>
bool is_host(std::u32string_view text, Accepts accepts) {
  size_t labels = 0;
  for (;;) {
    const size_t dot = text.find(U'.');
    const std::u32string_view label = text.substr(0, dot);
    if (!is_label(label)) {
      return false;
    }
    ++labels;
    if (dot == std::u32string_view::npos) {
      return labels > 1 && accepts(label);
    }
    text.remove_prefix(dot + 1);
  }
}

bool is_mail_address(std::u32string_view text) {
  const size_t at = text.find(U'@');
  if (at == 0 || at == std::u32string_view::npos) {
    return false;
  }
  const auto fits = [](char32_t c) { return is_among(c, U".+-") || is_word_character(c); };
  return std::ranges::all_of(text.substr(0, at), fits) &&
         is_host(text.substr(at + 1), [](std::u32string_view) { return true; });
}

bool is_known_domain(std::u32string_view label) {
  constexpr std::array<std::u32string_view, 18> kDomains = {
      U"com", U"org",  U"net", U"edu", U"gov", U"io", U"co", U"uk", U"de",
      U"fr",  U"info", U"biz", U"us",  U"ca",  U"au", U"tv", U"me", U"ly"};
  const std::u32string small = lower(label);
  return small == U"ai" || std::ranges::find(kDomains, small) != kDomains.end();
}

}  // namespace

size_t prefix_length(std::u32string_view text) {
  if (text.empty()) {
    return 0;
  }
  const char32_t c = text[0];
  if (c == U'+') {
    return text.size() == 1 || !is_ascii_digit(text[1]) ? 1 : 0;
  }
  if (c == U'.') {
    const size_t run = dots(text, 0);
    return run > 1 ? run : 0;
  }
  if (is_among(c, kSignsBefore) || is_cut_off(c) || is_among(c, kCurrencySigns)) {
    return 1;
  }
  const auto name = std::ranges::find_if(
      kCurrencyNames, [&](std::u32string_view found) { return text.starts_with(found); });
  return name == kCurrencyNames.end() ? 0 : name->size();
}

size_t suffix_length(std::u32string_view text) {
  if (text.empty()) {
    return 0;
  }
  const char32_t c = text.back();
  size_t length = is_cut_off(c) || c == U'—' || c == U'–' || ends_with_full_stop(text) ||
                          (c == U'+' && ends_behind(text, U"+", is_ascii_digit))
                      ? 1
                      : 0;
  if (text.ends_with(U"……")) {
    length = 2;
  }
  if (c == U'.') {
    const size_t before = text.find_last_not_of(U'.');
    const size_t run = text.size() - (before == std::u32string_view::npos ? 0 : before + 1);
    length = run > 1 ? run : length;
  }
  if (std::ranges::any_of(kPossessives,
                          [&](std::u32string_view end) { return text.ends_with(end); })) {
    length = 2;
  }
  return std::max(length, unit_length(text));
}

std::optional<Infix> next_infix(std::u32string_view text, size_t from) {
  for (size_t at = from; at < text.size(); ++at) {
    if (const size_t length = infix_length(text, at)) {
      return Infix{.at = at, .length = length};
    }
  }
  return std::nullopt;
}

bool is_address(std::u32string_view text) {
  for (const std::u32string_view scheme : {U"http://", U"https://", U"ftp://", U"www."}) {
    const std::u32string_view begin = text.substr(0, scheme.size());
    if (text.size() > scheme.size() && lower(begin) == scheme) {
      return true;
    }
  }
  return is_mail_address(text) || is_host(text.substr(0, text.find(U'/')), is_known_domain);
}

}  // namespace mynah
