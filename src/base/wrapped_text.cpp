#include "base/wrapped_text.h"

#include <algorithm>

namespace mynah {

namespace {

// Every byte of UTF-8 but those that continue a character.
bool begins_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
}

}  // namespace

std::string wrapped(std::string_view text, size_t indent, size_t columns) {
  std::string result;
  size_t used = indent;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    const auto width = static_cast<size_t>(std::ranges::count_if(word, begins_character));
    if (used > indent && used + 1 + width > columns) {
      result += '\n';
      result.append(indent, ' ');
      used = indent;
    } else if (used > indent) {
      result += ' ';
      ++used;
    }
    result += word;
    used += width;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

}  // namespace mynah
