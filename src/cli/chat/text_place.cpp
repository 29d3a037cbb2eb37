#include "cli/chat/text_place.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/ascii.h"

namespace mynah::cli {
namespace {

// An object or a list that is open.
struct Level {
  bool is_object = false;
  bool in_value = false;  // behind a colon
  std::string key;        // as it is written
  size_t index = 0;
};

std::string escaped(std::string_view key) {
  std::string text;
  for (const char byte : key) {
    text += byte == '~' ? "~0" : byte == '/' ? "~1" : std::string(1, byte);
  }
  return text;
}

class Scanner {
 public:
  void take(std::string_view text) {
    for (size_t i = 0; i < text.size(); ++i) {
      if (in_string_) {
        take_of_string(text, i);
      } else {
        take_outside(text[i], i);
      }
    }
  }

  // Where the word begins that goes on behind the text.
  [[nodiscard]] size_t word_begin(size_t end) const {
    return in_string_ || in_word_ ? word_begin_ : end;
  }

  [[nodiscard]] std::string path() const {
    std::string path;
    for (const Level& level : levels_) {
      if (!level.is_object) {
        path += fmt::format("/{}", level.index);
      } else if (level.in_value) {
        path += "/" + escaped(level.key);
      }
    }
    return path;
  }

 private:
  void take_of_string(std::string_view text, size_t i) {
    if (is_escape_) {
      is_escape_ = false;
    } else if (text[i] == '\\') {
      is_escape_ = true;
    } else if (text[i] == '"') {
      in_string_ = false;
      if (!levels_.empty() && levels_.back().is_object && !levels_.back().in_value) {
        levels_.back().key = text.substr(word_begin_ + 1, i - word_begin_ - 1);
      }
    }
  }

  void take_outside(char byte, size_t i) {
    const bool is_of_word =
        is_ascii_letter(byte) || is_ascii_digit(byte) || byte == '-' || byte == '.' || byte == '+';
    if (byte == '"' || (is_of_word && !in_word_)) {
      word_begin_ = i;
    }
    in_string_ = byte == '"';
    in_word_ = is_of_word;
    if (byte == '{' || byte == '[') {
      levels_.push_back({.is_object = byte == '{', .in_value = false, .key = {}, .index = 0});
    } else if (levels_.empty()) {
      return;
    } else if (byte == '}' || byte == ']') {
      levels_.pop_back();
    } else if (byte == ':') {
      levels_.back().in_value = true;
    } else if (byte == ',') {
      levels_.back().in_value = false;
      ++levels_.back().index;
    }
  }

  std::vector<Level> levels_;
  bool in_string_ = false;
  bool is_escape_ = false;
  bool in_word_ = false;
  size_t word_begin_ = 0;
};

}  // namespace

TextPlace place_in_json(std::string_view before) {
  Scanner scanner;
  scanner.take(before);
  const size_t line_begin = before.rfind('\n') + 1;  // 0 where there is none
  const auto is_first_byte = [](char byte) { return (byte & 0xC0) != 0x80; };
  return {.line = 1 + static_cast<size_t>(std::ranges::count(before, '\n')),
          .column = 1 + static_cast<size_t>(
                            std::ranges::count_if(before.substr(line_begin), is_first_byte)),
          .path = scanner.path(),
          .word_begin = scanner.word_begin(before.size())};
}

}  // namespace mynah::cli
