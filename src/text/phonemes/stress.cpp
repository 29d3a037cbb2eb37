#include "text/phonemes/stress.h"

#include <algorithm>

namespace mynah {
namespace {

constexpr std::u32string_view kVowels = U"AIOQWYaiuæɑɒɔəɛɜɪʊʌᵻ";
constexpr std::u32string_view kConsonants = U"bdfhjklmnpstvwzðŋɡɹɾʃʒʤʧθ";
constexpr std::u32string_view kPauses = U";:,.!?—…";
constexpr std::u32string_view kHeavy = U"AIOQWYʤʧ";

bool is_among(char32_t c, std::u32string_view set) {
  return set.find(c) != std::u32string_view::npos;
}

bool has(std::u32string_view phonemes, char32_t mark) {
  return is_among(mark, phonemes);
}

std::u32string weakened(std::u32string_view phonemes) {
  std::u32string result;
  for (const char32_t c : phonemes) {
    if (c != kSecondaryStress) {
      result += c == kPrimaryStress ? kSecondaryStress : c;
    }
  }
  return result;
}

std::u32string unmarked(std::u32string_view phonemes) {
  std::u32string result(phonemes);
  std::erase_if(result, [](char32_t c) { return c == kPrimaryStress || c == kSecondaryStress; });
  return result;
}

std::u32string strengthened(std::u32string_view phonemes) {
  std::u32string result(phonemes);
  std::ranges::replace(result, kSecondaryStress, kPrimaryStress);
  return result;
}

// With the mark before the first vowel.
std::u32string marked(std::u32string_view phonemes, char32_t mark) {
  std::u32string result(phonemes);
  const auto vowel = std::ranges::find_if(result, is_vowel_phoneme);
  if (vowel != result.end()) {
    result.insert(vowel, mark);
  }
  return result;
}

}  // namespace

bool is_vowel_phoneme(char32_t c) {
  return is_among(c, kVowels);
}

bool is_consonant_phoneme(char32_t c) {
  return is_among(c, kConsonants);
}

bool is_pause(char32_t c) {
  return is_among(c, kPauses);
}

std::u32string with_stress(std::u32string_view phonemes, std::optional<Stress> stress) {
  if (!stress) {
    return std::u32string(phonemes);
  }
  const bool primary = has(phonemes, kPrimaryStress);
  const bool any = primary || has(phonemes, kSecondaryStress);
  switch (*stress) {
    case Stress::None:
      return unmarked(phonemes);
    case Stress::Less:
      return weakened(phonemes);
    case Stress::Weak:
      return primary ? weakened(phonemes) : std::u32string(phonemes);
    case Stress::Secondary:
      if (primary) {
        return weakened(phonemes);
      }
      return any ? std::u32string(phonemes) : marked(phonemes, kSecondaryStress);
    case Stress::AtLeastSecondary:
      return any ? std::u32string(phonemes) : marked(phonemes, kSecondaryStress);
    case Stress::Primary:
      if (primary) {
        return std::u32string(phonemes);
      }
      return any ? strengthened(phonemes) : marked(phonemes, kPrimaryStress);
  }
  return std::u32string(phonemes);
}

int weight(std::u32string_view phonemes) {
  int sum = 0;
  for (const char32_t c : phonemes) {
    sum += is_among(c, kHeavy) ? 2 : 1;
  }
  return sum;
}

}  // namespace mynah
