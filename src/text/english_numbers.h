// Spoken English numbers in digits: "twenty one dollars" becomes "$21".
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mynah {

// What a word means in a number (whisper/normalizers/english.py, EnglishNumberNormalizer).
struct NumberWord {
  enum class Kind : unsigned char {
    Zero,        // "oh"
    One,         // "one" to "nineteen"
    Ten,         // "twenty" to "ninety"
    Multiplier,  // "hundred" to "decillion"
    Before,      // "minus": a sign before a number
    After,       // "dollars": a sign before the number it follows
    Percent,     // "percent"
    Per,         // "per", which "cent" may follow
    And,
    Double,  // "double", "triple"
    Point,
  };
  Kind kind = Kind::Zero;
  int value = 0;         // One, Ten: the number; Multiplier: its power of ten; Double: 2 or 3
  std::string suffix{};  // "s", "th" ... of a plural or an ordinal, which ends the number
  std::string sign{};    // Before, After
};

using NumberWords = std::unordered_map<std::string, NumberWord>;

[[nodiscard]] NumberWords number_words();

class EnglishNumbers {
 public:
  EnglishNumbers();

  // EnglishNumberNormalizer.__call__: numbers in words and symbols in one form, one space between
  // words.
  [[nodiscard]] std::u32string normalize(std::u32string_view text) const;

 private:
  [[nodiscard]] std::u32string spell_halves(std::u32string_view text) const;
  [[nodiscard]] std::vector<std::string> join_numbers(const std::vector<std::string>& words) const;

  NumberWords words_;
};

}  // namespace mynah
