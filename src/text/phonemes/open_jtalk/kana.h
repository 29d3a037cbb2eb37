// Katakana in the phonemes that Kokoro's Japanese was learned in.
#pragma once

#include <string>
#include <string_view>

namespace mynah::open_jtalk {

// Phonemes of one word's pronunciation in katakana, in misaki's alphabet for Japanese
// (hexgrad/misaki cutlet.py, with which Kokoro v1.0's text was read). What is no kana is passed
// over.
[[nodiscard]] std::string kokoro_phonemes(std::string_view katakana);

// What a mark is to Kokoro: "," for "、"; empty where it is silent.
[[nodiscard]] std::string_view kokoro_mark(char32_t mark);

}  // namespace mynah::open_jtalk
