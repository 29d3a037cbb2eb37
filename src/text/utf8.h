// UTF-8: reading code points from bytes that may be anything, and writing them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mynah {

inline constexpr char32_t kReplacementCharacter = 0xFFFD;

// One step through bytes: the code point at their start, or not valid and the bytes of the broken
// sequence.
struct Utf8Step {
  char32_t code_point = kReplacementCharacter;
  size_t bytes = 0;  // at least 1 unless the input is empty
  bool valid = false;
};

// Reads the code point at the start. A broken sequence is as long as the longest prefix of a valid
// one, at least one byte: the Unicode standard's "maximal subpart" (section 3.9), which Python's
// errors="replace" follows too.
[[nodiscard]] Utf8Step next_code_point(std::string_view bytes);

void append_utf8(std::string& text, char32_t code_point);

// Every broken sequence replaced by U+FFFD.
[[nodiscard]] std::string replace_invalid_utf8(std::string_view bytes);

// How many bytes at the end begin a code point that more bytes could complete: 0 to 3.
[[nodiscard]] size_t incomplete_utf8_tail(std::string_view bytes);

// Text as bytes come in parts: holds back those of a code point that is not complete yet. What is
// returned, joined, is replace_invalid_utf8 of all the bytes.
class Utf8Stream {
 public:
  // The text that these bytes complete.
  [[nodiscard]] std::string push(std::string_view bytes);
  // What is left at the end.
  [[nodiscard]] std::string flush();

 private:
  std::string pending_;
};

[[nodiscard]] std::u32string to_code_points(std::string_view bytes);
[[nodiscard]] std::string to_utf8(std::u32string_view code_points);

}  // namespace mynah
