#include "speech/whisper/shorter_windows.h"

#include <algorithm>

#include "nn/mel_filters.h"
#include "speech/decode_quality.h"

namespace mynah {
namespace {

// What is compared when a window is cut: the pause between two words.
constexpr int64_t kMoment = kMelRate_hz / 10;
constexpr int64_t kStep = kMoment / 4;

double energy_of(std::span<const float> samples) {
  double sum = 0;
  for (const float sample : samples) {
    sum += static_cast<double>(sample) * sample;
  }
  return sum;
}

// The middle of the quietest moment of the middle third.
int64_t quietest(std::span<const float> samples) {
  const auto length = static_cast<int64_t>(samples.size());
  int64_t best = length / 2;
  double least = -1;
  for (int64_t at = length / 3; at + kMoment <= 2 * length / 3; at += kStep) {
    const double energy =
        energy_of(samples.subspan(static_cast<size_t>(at), static_cast<size_t>(kMoment)));
    if (least < 0 || energy < least) {
      least = energy;
      best = at + kMoment / 2;
    }
  }
  return best;
}

}  // namespace

std::optional<int64_t> shorter_window(const WhisperTokenizer& tokenizer,
                                      const WhisperOptions& options, std::span<const float> samples,
                                      const WindowText& text) {
  const double seconds = static_cast<double>(samples.size()) / kMelRate_hz;
  if (text.silent || seconds <= kShortWindow_s) {
    return std::nullopt;
  }
  const bool loop = options.compression_ratio_threshold &&
                    text.compression_ratio > *options.compression_ratio_threshold;
  if (!loop && !too_much_said(tokenizer.decode(text.generated.tokens), seconds)) {
    return std::nullopt;
  }
  return quietest(samples);
}

}  // namespace mynah
