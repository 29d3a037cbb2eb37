#include "work.h"

#include <array>
#include <string_view>

#include "audio/open.h"

namespace mynah::bench {

Result<std::vector<float>> read_sound(const std::string& file) {
  MYNAH_TRY(const auto source, open_audio(file, {}));
  std::vector<float> samples;
  std::array<float, 16384> piece;
  while (true) {
    MYNAH_TRY(const size_t count, source->read(piece));
    if (count == 0) {
      return samples;
    }
    samples.insert(samples.end(), piece.begin(), piece.begin() + static_cast<ptrdiff_t>(count));
  }
}

std::vector<PhonemeWord> sentence() {
  constexpr std::array<std::string_view, 11> kWords = {
      "ðə", "kwˈɪk", "bɹˈWn", "fˈɑks", "ʤˈʌmps", "ˈOvəɹ", "ðə", "lˈAzi", "dˈɔɡ", "ænd", "ɹˈʌnz"};
  std::vector<PhonemeWord> words;
  size_t begin = 0;
  for (const std::string_view phonemes : kWords) {
    words.push_back({.text = std::string(phonemes),
                     .phonemes = std::string(phonemes),
                     .space_after = true,
                     .begin = begin,
                     .end = begin + phonemes.size()});
    begin += phonemes.size() + 1;
  }
  words.back().space_after = false;
  return words;
}

}  // namespace mynah::bench
