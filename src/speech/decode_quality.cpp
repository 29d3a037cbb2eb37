#include "speech/decode_quality.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <zlib.h>

#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {

float compression_ratio(std::string_view text) {
  if (text.empty()) {
    return 0;
  }
  uLongf size = compressBound(text.size());
  std::vector<Bytef> packed(size);
  compress2(packed.data(), &size, reinterpret_cast<const Bytef*>(text.data()), text.size(),
            Z_DEFAULT_COMPRESSION);
  return static_cast<float>(text.size()) / static_cast<float>(size);
}

float token_entropy(std::span<const int32_t> tokens) {
  constexpr size_t kRecent = 32;
  const auto recent = tokens.last(std::min(kRecent, tokens.size()));
  std::map<int32_t, int> counts;
  for (const int32_t token : recent) {
    ++counts[token];
  }
  float entropy = 0;
  for (const auto& [token, count] : counts) {
    const float p = static_cast<float>(count) / static_cast<float>(recent.size());
    entropy -= p * std::log(p);
  }
  return entropy;
}

double letters_said(std::string_view text) {
  constexpr char32_t kFirstSyllable = 0x3040;  // Hiragana; what has letters stands before, and
  constexpr char32_t kLastSyllable = 0x3FFFF;  // behind Hangul only rare scripts
  constexpr double kLettersOfSyllable = 2.5;
  double letters = 0;
  for (const char32_t character : to_code_points(text)) {
    if (is_letter(character) || is_number(character)) {
      const bool syllable = character >= kFirstSyllable && character <= kLastSyllable;
      letters += syllable ? kLettersOfSyllable : 1;
    }
  }
  return letters;
}

bool too_much_said(std::string_view text, double seconds) {
  constexpr double kCutOff_s = 0.5;  // words that a window cuts are written whole
  return letters_said(text) > kMostLetters_per_s * (seconds + kCutOff_s);
}

// The mean log-probability of a token. Of the 96 English clips of the shared speech tiny.en doubts
// none, in windows of 20 s, of 6 s and behind the built-in voice detector: the lowest of nine
// tokens and more have -0.75, -0.84 and -0.75 (two of a word or two have -0.94 and -0.87). Of the
// 31 in other languages it doubts 25, 27 and 25: short ones in German, Spanish, Portuguese and
// Chinese escape, the surest at -0.78.
bool doubtful_throughout(std::span<const Segment> segments) {
  constexpr size_t kFewTokens = 9;
  constexpr double kDoubt = -0.87;
  size_t tokens = 0;
  double sum = 0;
  for (const Segment& segment : segments) {
    tokens += segment.tokens.size();
    sum += static_cast<double>(segment.tokens.size()) * segment.mean_log_probability;
  }
  return tokens >= kFewTokens && sum < kDoubt * static_cast<double>(tokens);
}

}  // namespace mynah
