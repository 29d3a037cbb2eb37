#include "text/phonemes/arpabet.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "text/phonemes/stress.h"

namespace mynah {
namespace {

struct Phone {
  std::string_view symbol;
  std::u32string_view american;
  std::u32string_view british;
};

// Vowels first. The order is that of the bytes that are kept: add to the end only.
constexpr std::array<Phone, 39> kPhones = {{
    {"AA", U"ɑ", U"ɑː"}, {"AE", U"æ", U"a"}, {"AH", U"ʌ", U"ʌ"},  {"AO", U"ɔ", U"ɔː"},
    {"AW", U"W", U"W"},  {"AY", U"I", U"I"}, {"EH", U"ɛ", U"ɛ"},  {"ER", U"ɜɹ", U"ɜː"},
    {"EY", U"A", U"A"},  {"IH", U"ɪ", U"ɪ"}, {"IY", U"i", U"iː"}, {"OW", U"O", U"Q"},
    {"OY", U"Y", U"Y"},  {"UH", U"ʊ", U"ʊ"}, {"UW", U"u", U"uː"}, {"B", U"b", U"b"},
    {"CH", U"ʧ", U"ʧ"},  {"D", U"d", U"d"},  {"DH", U"ð", U"ð"},  {"F", U"f", U"f"},
    {"G", U"ɡ", U"ɡ"},   {"HH", U"h", U"h"}, {"JH", U"ʤ", U"ʤ"},  {"K", U"k", U"k"},
    {"L", U"l", U"l"},   {"M", U"m", U"m"},  {"N", U"n", U"n"},   {"NG", U"ŋ", U"ŋ"},
    {"P", U"p", U"p"},   {"R", U"ɹ", U"ɹ"},  {"S", U"s", U"s"},   {"SH", U"ʃ", U"ʃ"},
    {"T", U"t", U"t"},   {"TH", U"θ", U"θ"}, {"V", U"v", U"v"},   {"W", U"w", U"w"},
    {"Y", U"j", U"j"},   {"Z", U"z", U"z"},  {"ZH", U"ʒ", U"ʒ"},
}};

enum Number : uint8_t { AA, AE, AH, AO, AW, AY, EH, ER, EY, IH, IY, OW, OY, UH, UW, kVowels };

constexpr uint8_t number_of(std::string_view symbol) {
  return static_cast<uint8_t>(std::ranges::find(kPhones, symbol, &Phone::symbol) - kPhones.begin());
}

constexpr uint8_t D = number_of("D");
constexpr uint8_t L = number_of("L");
constexpr uint8_t N = number_of("N");
constexpr uint8_t R = number_of("R");
constexpr uint8_t S = number_of("S");
constexpr uint8_t T = number_of("T");
constexpr uint8_t Z = number_of("Z");
constexpr int kStressShift = 6;
constexpr uint8_t kNumberBits = (1U << kStressShift) - 1;

struct Sound {
  uint8_t number = 0;
  uint8_t stress = 0;

  [[nodiscard]] bool is_vowel() const { return number < kVowels; }

  [[nodiscard]] bool is(uint8_t other) const { return number == other; }
};

std::vector<Sound> sounds_of(std::string_view packed) {
  std::vector<Sound> sounds;
  sounds.reserve(packed.size());
  for (const char c : packed) {
    const auto byte = static_cast<uint8_t>(c);
    const Sound sound{.number = static_cast<uint8_t>(byte & kNumberBits),
                      .stress = static_cast<uint8_t>(byte >> kStressShift)};
    if (sound.number < kPhones.size()) {
      sounds.push_back(sound);
    }
  }
  return sounds;
}

bool is_vowel_letter(char c) {
  return std::string_view("aeiouy").find(c) != std::string_view::npos;
}

// A word's runs of vowel letters, where each vowel that is heard can be told a run: neither the u
// of qu nor an e at the end is one. Empty where their numbers differ.
std::vector<std::string_view> vowel_letters(std::string_view word, size_t vowels) {
  std::vector<std::string_view> runs;
  for (size_t at = 0; at < word.size();) {
    size_t end = at;
    while (end < word.size() && is_vowel_letter(word[end])) {
      ++end;
    }
    const bool after_q = at > 0 && word[at - 1] == 'q';
    if (after_q && end > at && word[at] == 'u') {
      ++at;
    }
    if (end > at) {
      runs.push_back(word.substr(at, end - at));
    }
    at = std::max(end, at + 1);
  }
  if (runs.size() == vowels + 1 && word.ends_with('e') && runs.back() == "e") {
    runs.pop_back();
  }
  return runs.size() == vowels ? runs : std::vector<std::string_view>();
}

// Says one word in one accent.
class Speaker {
 public:
  Speaker(std::vector<Sound> sounds, std::string_view word, bool british)
      : sounds_(std::move(sounds)), word_(word), british_(british) {
    const auto vowels = std::ranges::count_if(sounds_, &Sound::is_vowel);
    runs_ = british ? vowel_letters(word, static_cast<size_t>(vowels))
                    : std::vector<std::string_view>();
  }

  std::u32string say() {
    std::u32string said;
    bool after_primary = false;
    for (size_t i = 0; i < sounds_.size(); ++i) {
      if (!sounds_[i].is_vowel()) {
        said += consonant(i);
        continue;
      }
      const std::u32string vowel = british_ ? british_vowel(i) : american_vowel(i);
      if (const char32_t mark = stress_mark(i, after_primary); mark != U'\0') {
        said += mark;
      }
      after_primary = after_primary || sounds_[i].stress == 1;
      said += vowel;
      ++vowel_;
    }
    return said;
  }

 private:
  [[nodiscard]] const Sound* at(size_t i) const {
    return i < sounds_.size() ? &sounds_[i] : nullptr;
  }

  [[nodiscard]] bool vowel_at(size_t i) const {
    return i < sounds_.size() && sounds_[i].is_vowel();
  }

  [[nodiscard]] bool is_at(size_t i, uint8_t number) const {
    return i < sounds_.size() && sounds_[i].is(number);
  }

  // A secondary stress is not heard directly before the primary one, nor on a final -y or -o; after
  // the primary one British lexicons have none.
  [[nodiscard]] char32_t stress_mark(size_t i, bool after_primary) const {
    const Sound& sound = sounds_[i];
    if (sound.stress == 1) {
      return kPrimaryStress;
    }
    if (sound.stress == 0 || (british_ && after_primary)) {
      return U'\0';
    }
    const auto next = std::ranges::find_if(sounds_.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                           sounds_.end(), &Sound::is_vowel);
    const bool before_primary = next != sounds_.end() && next->stress == 1;
    const bool ends = i + 1 == sounds_.size() && (sound.is(IY) || sound.is(OW));
    return before_primary || ends ? U'\0' : kSecondaryStress;
  }

  // A t between vowels is a tap where the second has no stress, but not in -ten.
  [[nodiscard]] std::u32string consonant(size_t i) const {
    const Sound& sound = sounds_[i];
    if (sound.is(R) && british_) {
      const bool heard = vowel_at(i + 1) || i == 0 || !vowel_at(i - 1);
      return heard ? U"ɹ" : U"";
    }
    if (sound.is(T) && !british_ && i > 0) {
      const bool behind_vowel = vowel_at(i - 1) || (is_at(i - 1, R) && i > 1 && vowel_at(i - 2));
      const bool in_ten = is_at(i + 1, AH) && is_at(i + 2, N) && !vowel_at(i + 3);
      if (behind_vowel && vowel_at(i + 1) && at(i + 1)->stress == 0 && !in_ten) {
        return U"T";
      }
    }
    return std::u32string(kPhones[sound.number].american);
  }

  // The vowel of a weak syllable before l or n, which is nearly none behind some consonants: by
  // what the lexicons of misaki have for most words.
  [[nodiscard]] std::u32string weak_vowel(size_t i) const {
    if (i > 0 && !vowel_at(i + 2)) {
      const Sound& before = sounds_[i - 1];
      const bool ends = i + 2 >= sounds_.size();
      const std::string_view symbol = kPhones[before.number].symbol;
      constexpr std::array<std::string_view, 12> kBeforeL = {"B",  "K", "T", "F", "D", "G",
                                                             "SH", "S", "P", "V", "Z", "M"};
      const bool falls_before_l = ends ? std::ranges::find(kBeforeL, symbol) != kBeforeL.end()
                                       : before.is(T) || before.is(D);
      const bool falls_before_n = before.is(T) || before.is(D) || before.is(S) || before.is(Z);
      if ((is_at(i + 1, L) && falls_before_l) || (is_at(i + 1, N) && falls_before_n)) {
        return U"ᵊ";
      }
    }
    return U"ə";
  }

  [[nodiscard]] std::u32string american_vowel(size_t i) const {
    const Sound& sound = sounds_[i];
    if (sound.is(AH) && sound.stress == 0) {
      return weak_vowel(i);
    }
    if (sound.is(ER) && sound.stress == 0) {
      return U"əɹ";
    }
    std::u32string vowel(kPhones[sound.number].american);
    if (sound.is(AY) && is_at(i + 1, R) && !vowel_at(i + 2)) {
      vowel += U'ə';  // "fire"
    }
    return vowel;
  }

  // How the vowel at hand is written, where that can be told.
  [[nodiscard]] std::string_view letters() const {
    return vowel_ < runs_.size() ? runs_[vowel_] : std::string_view();
  }

  // Whether the letters are an o, or the a of "watch", which have the vowel of "hot".
  [[nodiscard]] bool is_written_o() const {
    const std::string_view run = letters();
    if (run.empty()) {
      return word_.find('o') != std::string_view::npos && word_.find('a') == std::string_view::npos;
    }
    const size_t begin = static_cast<size_t>(run.data() - word_.data());
    const bool after_w =
        begin > 0 && (word_[begin - 1] == 'w' || word_.substr(0, begin).ends_with("wh"));
    return run == "o" || (run == "a" && after_w);
  }

  [[nodiscard]] bool has(std::string_view letters) const {
    return word_.find(letters) != std::string_view::npos;
  }

  // The vowel of "Doris" and "Morris", and not that of "Nora".
  [[nodiscard]] bool is_short_before_r() const {
    if (has("orr")) {
      return true;
    }
    const size_t at = word_.find("or");
    if (at == std::string_view::npos || at + 3 >= word_.size()) {
      return false;
    }
    const bool front = word_[at + 2] == 'i' || word_[at + 2] == 'e';
    return front && !is_vowel_letter(word_[at + 3]);
  }

  [[nodiscard]] std::u32string before_r(const Sound& sound, bool vowel_follows) const {
    switch (sound.number) {
      case IY:
      case IH:
        return vowel_follows && has("irr") ? U"ɪ" : U"ɪə";
      case EH:
        if (vowel_follows && (has("arr") || has("ari"))) {
          return U"a";
        }
        return vowel_follows && letters() == "e" ? U"ɛ" : U"ɛː";
      case UH:
      case UW:
        return U"ʊə";
      case AY:
        return U"Iə";
      case AW:
        return U"Wə";
      case AO:
        return vowel_follows && is_short_before_r() ? U"ɒ" : U"ɔː";
      default:
        return std::u32string(kPhones[sound.number].british);
    }
  }

  [[nodiscard]] std::u32string british_vowel(size_t i) const {
    const Sound& sound = sounds_[i];
    std::u32string usual(kPhones[sound.number].british);
    const bool vowel_follows = vowel_at(i + 1);
    if (is_at(i + 1, R)) {
      return sound.is(AH) && sound.stress == 0 ? U"ə" : before_r(sound, vowel_at(i + 2));
    }
    switch (sound.number) {
      case AH:
        return sound.stress == 0 ? weak_vowel(i) : usual;
      case ER:
        if (sound.stress == 0) {
          return vowel_follows ? U"əɹ" : U"ə";
        }
        return !vowel_follows ? usual : has("urr") || has("ough") ? U"ʌɹ" : U"ɜːɹ";
      case IY:
        return sound.stress != 0 ? usual : vowel_follows ? U"ɪ" : U"i";
      case AA:
        return is_written_o() ? U"ɒ" : letters().starts_with("au") ? U"ɔː" : usual;
      case AO:
        return is_written_o() ? U"ɒ" : usual;
      case UW: {
        const bool after_tongue = i > 0 && (is_at(i - 1, T) || is_at(i - 1, D) || is_at(i - 1, N));
        const bool yod =
            after_tongue && !letters().empty() && letters().find('o') == std::string_view::npos;
        return yod ? U"j" + usual : usual;
      }
      default:
        return usual;
    }
  }

  std::vector<Sound> sounds_;
  std::string_view word_;
  bool british_;
  std::vector<std::string_view> runs_;
  size_t vowel_ = 0;  // how many vowels were said
};

// The j of "new" stands before the mark of stress.
std::u32string with_yod_first(std::u32string said) {
  for (const char32_t mark : {kPrimaryStress, kSecondaryStress}) {
    const size_t at = said.find(std::u32string{mark, U'j'});
    if (at != std::u32string::npos) {
      std::swap(said[at], said[at + 1]);
    }
  }
  return said;
}

}  // namespace

std::optional<std::string> packed_arpabet(std::string_view symbols) {
  std::string packed;
  while (!symbols.empty()) {
    const size_t end = std::min(symbols.find(' '), symbols.size());
    std::string_view symbol = symbols.substr(0, end);
    symbols.remove_prefix(std::min(end + 1, symbols.size()));
    if (symbol.empty()) {
      continue;
    }
    uint8_t stress = 0;
    const bool marked = symbol.back() >= '0' && symbol.back() <= '2';
    if (marked) {
      stress = static_cast<uint8_t>(symbol.back() - '0');
      symbol.remove_suffix(1);
    }
    const uint8_t number = number_of(symbol);
    if (number == kPhones.size() || marked != (number < kVowels)) {
      return std::nullopt;
    }
    packed += static_cast<char>(number | (stress << kStressShift));
  }
  return packed.empty() ? std::nullopt : std::optional(packed);
}

std::u32string arpabet_in_kokoro(std::string_view packed, std::string_view word, bool british) {
  return with_yod_first(Speaker(sounds_of(packed), word, british).say());
}

}  // namespace mynah
