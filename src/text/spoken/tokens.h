// Canonical text as small tokens, which readers look at from any place in both directions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mynah {

struct Token {
  enum class Kind : uint8_t {
    End,     // before the first and behind the last
    Space,   // any white space
    Word,    // letters with their marks, and apostrophes inside: "don't"
    Digits,  // 0 to 9
    Mark,    // any other character, alone
  };

  Kind kind = Kind::End;
  uint32_t begin = 0;
  uint32_t end = 0;
};

// Every question may be asked of a place outside: there is the token End, whose text is empty.
class Tokens {
 public:
  // Keeps a view of the text. No token goes across a cut; cuts are in order.
  explicit Tokens(std::string_view text, std::span<const size_t> cuts = {});

  [[nodiscard]] size_t size() const { return tokens_.size(); }

  [[nodiscard]] std::string_view source() const { return text_; }

  [[nodiscard]] Token at(size_t i) const { return i < tokens_.size() ? tokens_[i] : Token{}; }

  [[nodiscard]] Token::Kind kind(size_t i) const { return at(i).kind; }

  [[nodiscard]] std::string_view text(size_t i) const;

  // Canonical text of tokens first to last - 1.
  [[nodiscard]] std::string_view text(size_t first, size_t last) const;

  [[nodiscard]] bool is(size_t i, std::string_view text) const { return this->text(i) == text; }

  [[nodiscard]] bool is_space(size_t i) const { return kind(i) == Token::Kind::Space; }

  [[nodiscard]] bool is_word(size_t i) const { return kind(i) == Token::Kind::Word; }

  [[nodiscard]] bool is_end(size_t i) const { return kind(i) == Token::Kind::End; }

  [[nodiscard]] bool is_digits(size_t i) const { return kind(i) == Token::Kind::Digits; }

  [[nodiscard]] bool is_value(size_t i) const { return is_word(i) || is_digits(i); }

  // Digits, and between `low` and `high` of them.
  [[nodiscard]] bool is_digits(size_t i, size_t low, size_t high) const;

  // i, or the token behind the space at i.
  [[nodiscard]] size_t skip_space(size_t i) const { return is_space(i) ? i + 1 : i; }

  // The word before or behind i, with one space or none between; empty where something else is
  // there.
  [[nodiscard]] std::string_view word_before(size_t i) const;
  [[nodiscard]] std::string_view word_behind(size_t i) const;

  // Whether nothing of a word or number stands directly before i: a space, an opening bracket, a
  // quote, the beginning.
  [[nodiscard]] bool begins_word(size_t i) const;

  // Whether nothing of a word or number follows directly at i.
  [[nodiscard]] bool ends_word(size_t i) const;

  // Whether only closing quotes and brackets and space follow.
  [[nodiscard]] bool ends_text(size_t i) const;

 private:
  std::string_view text_;
  std::vector<Token> tokens_;
};

// The value of up to nine digits.
[[nodiscard]] unsigned digits_value(std::string_view digits);

}  // namespace mynah
