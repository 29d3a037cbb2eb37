// Where a byte of a text stands, as people look for it: its line, and its path where the text is
// JSON.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mynah::cli {

struct TextPlace {
  size_t line = 1;
  size_t column = 1;      // in characters
  std::string path;       // a JSON pointer (RFC 6901) of the value there; "": the whole
  size_t word_begin = 0;  // of the string, number or word that has the byte before; else the byte
};

// Of the byte behind `before`, which is the beginning of a text in JSON.
[[nodiscard]] TextPlace place_in_json(std::string_view before);

}  // namespace mynah::cli
