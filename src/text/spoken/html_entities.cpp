#include "text/spoken/html_entities.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "text/utf8.h"

namespace mynah {
namespace {

struct Entity {
  std::string_view name;
  std::string_view text;
};

// Of the names of the HTML standard (section 13.5) those that prose has.
constexpr std::array kEntities = std::to_array<Entity>({
    {"amp", "&"},         {"lt", "<"},          {"gt", ">"},          {"quot", "\""},
    {"apos", "'"},        {"nbsp", "\u00A0"},   {"ensp", " "},        {"emsp", " "},
    {"thinsp", " "},      {"shy", "\u00AD"},    {"zwj", "\u200D"},    {"zwnj", "\u200C"},
    {"ndash", "\u2013"},  {"mdash", "\u2014"},  {"hellip", "\u2026"}, {"lsquo", "\u2018"},
    {"rsquo", "\u2019"},  {"sbquo", "\u201A"},  {"ldquo", "\u201C"},  {"rdquo", "\u201D"},
    {"bdquo", "\u201E"},  {"laquo", "\u00AB"},  {"raquo", "\u00BB"},  {"bull", "\u2022"},
    {"middot", "\u00B7"}, {"copy", "\u00A9"},   {"reg", "\u00AE"},    {"trade", "\u2122"},
    {"deg", "\u00B0"},    {"plusmn", "\u00B1"}, {"times", "\u00D7"},  {"divide", "\u00F7"},
    {"minus", "\u2212"},  {"frac12", "\u00BD"}, {"frac14", "\u00BC"}, {"frac34", "\u00BE"},
    {"sup2", "\u00B2"},   {"sup3", "\u00B3"},   {"micro", "\u00B5"},  {"para", "\u00B6"},
    {"sect", "\u00A7"},   {"euro", "\u20AC"},   {"pound", "\u00A3"},  {"yen", "\u00A5"},
    {"cent", "\u00A2"},   {"larr", "\u2190"},   {"rarr", "\u2192"},   {"uarr", "\u2191"},
    {"darr", "\u2193"},   {"harr", "\u2194"},   {"le", "\u2264"},     {"ge", "\u2265"},
    {"ne", "\u2260"},     {"asymp", "\u2248"},  {"infin", "\u221E"},  {"prime", "\u2032"},
    {"Prime", "\u2033"},  {"permil", "\u2030"}, {"dagger", "\u2020"}, {"iexcl", "\u00A1"},
    {"iquest", "\u00BF"}, {"agrave", "\u00E0"}, {"aacute", "\u00E1"}, {"acirc", "\u00E2"},
    {"auml", "\u00E4"},   {"aring", "\u00E5"},  {"aelig", "\u00E6"},  {"ccedil", "\u00E7"},
    {"egrave", "\u00E8"}, {"eacute", "\u00E9"}, {"ecirc", "\u00EA"},  {"euml", "\u00EB"},
    {"iacute", "\u00ED"}, {"icirc", "\u00EE"},  {"iuml", "\u00EF"},   {"ntilde", "\u00F1"},
    {"oacute", "\u00F3"}, {"ocirc", "\u00F4"},  {"ouml", "\u00F6"},   {"oslash", "\u00F8"},
    {"uacute", "\u00FA"}, {"ucirc", "\u00FB"},  {"uuml", "\u00FC"},   {"szlig", "\u00DF"},
    {"Auml", "\u00C4"},   {"Ouml", "\u00D6"},   {"Uuml", "\u00DC"},   {"Eacute", "\u00C9"},
    {"alpha", "\u03B1"},  {"beta", "\u03B2"},   {"pi", "\u03C0"},     {"omega", "\u03C9"},
});

}  // namespace

std::optional<std::string> entity_text(std::string_view name) {
  if (name.starts_with('#')) {
    name.remove_prefix(1);
    const bool hexadecimal = name.starts_with('x') || name.starts_with('X');
    name.remove_prefix(hexadecimal ? 1 : 0);
    uint32_t value = 0;
    const auto [end, error] =
        std::from_chars(name.data(), name.data() + name.size(), value, hexadecimal ? 16 : 10);
    const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
    if (name.empty() || error != std::errc{} || end != name.data() + name.size() || value == 0 ||
        value > 0x10FFFF || surrogate) {
      return std::nullopt;
    }
    std::string text;
    append_utf8(text, value);
    return text;
  }
  const auto* const found = std::ranges::find(kEntities, name, &Entity::name);
  return found == kEntities.end() ? std::nullopt : std::optional(std::string(found->text));
}

}  // namespace mynah
