#include "speech/phoneme_alphabet.h"

#include <algorithm>
#include <utility>

#include "text/utf8.h"

namespace mynah {

PhonemeAlphabet::PhonemeAlphabet(std::u32string characters) : characters_(std::move(characters)) {
  std::ranges::sort(characters_);
}

PhonemeAlphabet PhonemeAlphabet::any() {
  PhonemeAlphabet alphabet{std::u32string()};
  alphabet.any_ = true;
  return alphabet;
}

size_t PhonemeAlphabet::count(std::string_view phonemes) const {
  if (any_) {
    return phonemes.size();
  }
  return static_cast<size_t>(std::ranges::count_if(
      to_code_points(phonemes),
      [this](char32_t character) { return std::ranges::binary_search(characters_, character); }));
}

}  // namespace mynah
