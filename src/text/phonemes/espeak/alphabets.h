// Phonemes of espeak-ng in the alphabets that voices were trained with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mynah::espeak {

enum class Alphabet : uint8_t {
  Espeak,  // its IPA as it is: Piper's voices
  Kokoro   // misaki's (hexgrad/misaki espeak.py): a letter for each diphthong and affricate
};

// `ipa` with ties between the letters of one phoneme ("a^ɪ"), as espeak-ng writes it; voice is
// espeak-ng's ("en-gb", "es"), since English has replacements of its own. What surrounds words of
// another language ("(en)") goes.
[[nodiscard]] std::string to_alphabet(std::string_view ipa, Alphabet alphabet,
                                      std::string_view voice);

// Phonemes that a user gave, Kokoro's or IPA, in a voice's alphabet: ties and syllable marks go.
// What neither has stays, and is passed over by the voice.
[[nodiscard]] std::string from_given(std::string_view phonemes, Alphabet alphabet);

// What a voice of this alphabet is given for a mark; empty where it is silent. Piper's voices know
// espeak-ng's clauses alone, whose dashes count as semicolons.
[[nodiscard]] std::string mark_phonemes(char32_t mark, Alphabet alphabet);

}  // namespace mynah::espeak
