// What readers of short texts share: a place in a text, blanks skipped before each word.
#pragma once

#include <string_view>

#include "doctor/characters.h"

namespace mynah::doctor {

class TextReader {
 public:
  explicit TextReader(std::string_view text) : text_(text) {}

  [[nodiscard]] std::string_view text() const { return text_; }

  // How many bytes were read.
  [[nodiscard]] size_t at() const { return at_; }

  // What is left, from the next character that is no blank.
  std::string_view rest() {
    while (at_ < text_.size() && is_blank(text_[at_])) {
      ++at_;
    }
    return text_.substr(at_);
  }

  // Goes on behind `count` characters of the rest.
  void skip(size_t count) { at_ += count; }

  // Whether the rest begins with `word`, which is then read.
  bool take(std::string_view word) {
    if (!rest().starts_with(word)) {
      return false;
    }
    at_ += word.size();
    return true;
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace mynah::doctor
