#include "text/spoken/html_entities.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "base/check.h"
#include "text/spoken/word_tables.h"
#include "text/utf8.h"

namespace mynah {
namespace {

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

// The character of "#8217" or "#x2019", without the "#"; nothing where it is no number.
std::optional<char32_t> numbered_character(std::string_view digits) {
  const bool hexadecimal = digits.starts_with('x') || digits.starts_with('X');
  digits.remove_prefix(hexadecimal ? 1 : 0);
  uint32_t number = 0;
  const auto end =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, hexadecimal ? 16 : 10);
  if (digits.empty() || end.ptr != digits.data() + digits.size() ||
      end.ec == std::errc::invalid_argument) {
    return std::nullopt;
  }
  return numbered(end.ec == std::errc() ? number : 0);
}

// The characters of a reference; nothing where it is none.
std::optional<std::u32string> characters_of(std::string_view name) {
  if (name.starts_with('#')) {
    const auto character = numbered_character(name.substr(1));
    return character ? std::optional(std::u32string(1, *character)) : std::nullopt;
  }
  const TableRow* const row = find_row(WordTable::HtmlEntities, name);
  if (row == nullptr) {
    return std::nullopt;
  }
  std::u32string characters;
  for (std::string_view numbers = (*row)[1]; !numbers.empty();) {
    uint32_t character = 0;
    const auto end =
        std::from_chars(numbers.data(), numbers.data() + numbers.size(), character, 16);
    MYNAH_CHECK(end.ec == std::errc(), "html_entities.tsv has code points");
    characters += static_cast<char32_t>(character);
    numbers.remove_prefix(static_cast<size_t>(end.ptr - numbers.data()));
    numbers.remove_prefix(numbers.starts_with(' ') ? 1 : 0);
  }
  return characters;
}

}  // namespace

std::optional<std::string> entity_characters(std::string_view name) {
  const auto characters = characters_of(name);
  return characters ? std::optional(to_utf8(*characters)) : std::nullopt;
}

std::optional<std::string> entity_text(std::string_view name) {
  auto characters = characters_of(name);
  if (!characters || characters->contains(kReplacementCharacter)) {
    return std::nullopt;
  }
  const auto is_space = [](char32_t c) { return (c >= 0x2000 && c <= 0x200A) || c == 0x205F; };
  std::ranges::replace_if(*characters, is_space, U' ');
  return to_utf8(*characters);
}

}  // namespace mynah
