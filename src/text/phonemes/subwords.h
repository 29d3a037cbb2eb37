// The parts of a word that may have a pronunciation of their own: MP and 3 of "MP3", camel and Case
// of "camelCase", the words about a hyphen (misaki 0.9.4, en.py, as hibari-tts 0.2.1 has it).
#pragma once

#include <string_view>
#include <vector>

namespace mynah {

struct Subword {
  size_t at = 0;  // in characters of the word
  size_t length = 0;
};

// In order. An apostrophe that stands between no two letters is left out.
[[nodiscard]] std::vector<Subword> subwords(std::u32string_view word);

}  // namespace mynah
