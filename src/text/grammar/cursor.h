// A place in a grammar's or an expression's text.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace mynah::grammar {

class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }

  // The next byte; 0 at the end.
  [[nodiscard]] char peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  // Goes past `wanted` where it stands here.
  [[nodiscard]] bool take(std::string_view wanted);

  void skip(size_t bytes) { at_ += bytes; }

  // Bytes from here as long as they are of a kind.
  template <class IsOfKind>
  [[nodiscard]] std::string_view take_while(IsOfKind is_of_kind) {
    const size_t first = at_;
    while (!at_end() && is_of_kind(text_[at_])) {
      ++at_;
    }
    return text_.substr(first, at_ - first);
  }

  // Nothing where the bytes are no UTF-8, or at the end.
  [[nodiscard]] std::optional<char32_t> take_code_point();

  // As many digits of a base, or nothing, also where they are no code point.
  [[nodiscard]] std::optional<char32_t> take_hex(size_t digits);

  // A decimal number, or nothing where there is none or more than `most`.
  [[nodiscard]] std::optional<int> take_number(int most);

  [[nodiscard]] size_t offset() const { return at_; }

  // From 1. Takes as long as the text before it.
  [[nodiscard]] size_t line() const { return line_of(at_); }

  [[nodiscard]] size_t line_of(size_t offset) const;

  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace mynah::grammar
