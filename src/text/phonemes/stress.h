// Phonemes of English in Kokoro's alphabet (misaki 0.9.4, EN_PHONES.md): one character a phoneme,
// with the five diphthongs A I O Q W Y as capitals; and what may be done to their stress.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mynah {

inline constexpr char32_t kPrimaryStress = U'ˈ';
inline constexpr char32_t kSecondaryStress = U'ˌ';

[[nodiscard]] bool is_vowel_phoneme(char32_t c);
[[nodiscard]] bool is_consonant_phoneme(char32_t c);
// A mark that a speaker hears: ; : , . ! ? the dash and the ellipsis.
[[nodiscard]] bool is_pause(char32_t c);

// How much a word is stressed against what its lexicon says (misaki's -2 to 2).
enum class Stress {
  None,              // -2: no mark at all
  Less,              // -1: primary becomes secondary
  Weak,              // -0.5: the same, only where there is a primary one
  Secondary,         // 0: as Weak; where there is none, a secondary one
  AtLeastSecondary,  // 0.5: where there is none, a secondary one
  Primary,           // 2: secondary becomes primary, and where there is none, a primary one
};

// Marks stand before vowels. Without a stress wanted, or without a vowel, phonemes stay.
[[nodiscard]] std::u32string with_stress(std::u32string_view phonemes,
                                         std::optional<Stress> stress);

// How heavy a word is: two for a diphthong or an affricate, one for any other phoneme or mark.
[[nodiscard]] int weight(std::u32string_view phonemes);

}  // namespace mynah
