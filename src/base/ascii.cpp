#include "base/ascii.h"

namespace mynah {

std::string ascii_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    c = ascii_lower(c);
  }
  return lower;
}

std::string ascii_upper(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) {
    c = ascii_upper(c);
  }
  return upper;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> split_words(std::string_view text, char separator) {
  std::vector<std::string_view> words = split(text, separator);
  std::erase_if(words, [](std::string_view word) { return word.empty(); });
  return words;
}

}  // namespace mynah
