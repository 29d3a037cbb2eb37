// The phonemes of the CMU Pronouncing Dictionary (ARPAbet, cmudict.phones: 39 of them, vowels with
// a digit for their stress), and what they are in Kokoro's alphabet.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mynah {

// Phones as they are kept, a byte each: the number of the phone in the lower six bits, its stress
// (0 none, 1 primary, 2 secondary; consonants 0) in the upper two.
//
// "D AA1 N AH0 L D" in that form; none where a symbol is no phone, or there are no symbols.
[[nodiscard]] std::optional<std::string> packed_arpabet(std::string_view symbols);

// Such bytes in Kokoro's alphabet, American or British. Bytes that are no phones are left out.
//
// American: by what misaki's us_gold has for words that both have. British is made of the American
// sounds and of how the word is written (`word`, small letters): r is said before vowels only, and
// "o" tells the vowel of "hot" from that of "father".
[[nodiscard]] std::u32string arpabet_in_kokoro(std::string_view packed, std::string_view word,
                                               bool british);

}  // namespace mynah
