// Whisper's text normalisers: what is spoken the same is written the same, so that word error rates
// count what was heard wrong and not how it was spelt (Radford et al. 2022, appendix C).
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace mynah {

class TextNormalizer {
 public:
  virtual ~TextNormalizer() = default;

  // Broken UTF-8 is read as U+FFFD. May leave a space at either end, as the reference does.
  [[nodiscard]] virtual std::string normalize(std::string_view text) const = 0;
};

// What BasicTextNormalizer keeps and cuts (whisper/normalizers/basic.py; preserve_marks is the
// package whisper-normalizer's).
struct BasicNormalizerOptions {
  bool remove_diacritics = false;  // "é" becomes "e"
  bool split_letters = false;      // a space between characters, to count errors by character
  bool preserve_marks = false;     // for scripts whose vowels are marks; not with remove_diacritics
};

// For every language: lower case, no words in brackets, no symbols.
[[nodiscard]] std::unique_ptr<TextNormalizer> basic_text_normalizer(
    const BasicNormalizerOptions& options = {});

// For English: besides, contractions and titles in full, numbers in digits, American spelling, no
// "uh" (whisper/normalizers/english.py).
[[nodiscard]] std::unique_ptr<TextNormalizer> english_text_normalizer();

}  // namespace mynah
