#include "text/spoken/html_entities.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <map>

#include "base/check.h"
#include "base/embedded_file.h"
#include "base/tsv_lines.h"
#include "text/utf8.h"

MYNAH_EMBEDDED_FILE(html_entities, MYNAH_SPOKEN_FOLDER "/html_entities.tsv")

namespace mynah {
namespace {

using Entities = std::map<std::string_view, char32_t>;

Entities read_entities() {
  Entities entities;
  for_each_tsv_line<2>(html_entities(), [&](const auto& fields) {
    const auto& [name, number] = fields;
    uint32_t code_point = 0;
    const auto end = std::from_chars(number.begin(), number.end(), code_point, 16);
    MYNAH_CHECK(end.ec == std::errc() && end.ptr == number.end(),
                "html_entities.tsv has a code point in each line");
    entities.emplace(name, code_point);
  });
  return entities;
}

char32_t numbered(uint32_t number) {
  constexpr std::array<char16_t, 32> kWindows = {
      0x20AC, 0x81,   0x201A, 0x192,  0x201E, 0x2026, 0x2020, 0x2021, 0x2C6,  0x2030, 0x160,
      0x2039, 0x152,  0x8D,   0x17D,  0x8F,   0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
      0x2013, 0x2014, 0x2DC,  0x2122, 0x161,  0x203A, 0x153,  0x9D,   0x17E,  0x178};
  if (number >= 0x80 && number < 0xA0) {
    return kWindows[number - 0x80];
  }
  const bool bad = number == 0 || number > 0x10FFFF || (number >= 0xD800 && number < 0xE000);
  return bad ? kReplacementCharacter : number;
}

}  // namespace

std::optional<char32_t> entity_character(std::string_view name) {
  if (name.starts_with('#')) {
    name.remove_prefix(1);
    const bool hexadecimal = name.starts_with('x') || name.starts_with('X');
    name.remove_prefix(hexadecimal ? 1 : 0);
    uint32_t number = 0;
    const auto end =
        std::from_chars(name.data(), name.data() + name.size(), number, hexadecimal ? 16 : 10);
    if (name.empty() || end.ptr != name.data() + name.size() ||
        end.ec == std::errc::invalid_argument) {
      return std::nullopt;
    }
    return numbered(end.ec == std::errc() ? number : 0);
  }
  static const Entities entities = read_entities();
  const auto found = entities.find(name);
  return found == entities.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::string> entity_text(std::string_view name) {
  const auto character = entity_character(name);
  if (!character || *character == kReplacementCharacter) {
    return std::nullopt;
  }
  const bool space = *character >= 0x2000 && *character <= 0x200A;
  std::string text;
  append_utf8(text, space ? U' ' : *character);
  return text;
}

}  // namespace mynah
