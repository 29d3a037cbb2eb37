#include "speech/clause_edges.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <vector>

namespace mynah {
namespace {

constexpr double kWindow_s = 0.005;
// Against the loudest window. A voice's last breath and the release of a stop are some 45 dB below
// its vowels; what a vocoder leaves in pauses is at -60 dB and below.
constexpr double kHeard_dB = -52;
// Below it nothing is heard, however quiet the rest: half a step of 16 bits.
constexpr double kSilence = 0.5 / 32768;
constexpr double kLead_s = 0.015;
constexpr double kTail_s = 0.040;
constexpr double kFade_s = 0.008;

// The first and the one past the last window that is heard.
struct Heard {
  size_t first = 0;
  size_t last = 0;
};

Heard find_heard(std::span<const float> samples, size_t window) {
  std::vector<double> levels;
  for (size_t at = 0; at < samples.size(); at += window) {
    const auto part = samples.subspan(at, std::min(window, samples.size() - at));
    double sum = 0;
    for (const float x : part) {
      sum += static_cast<double>(x) * x;
    }
    levels.push_back(std::sqrt(sum / static_cast<double>(part.size())));
  }
  const double loudest = levels.empty() ? 0 : *std::ranges::max_element(levels);
  const double least = std::max(kSilence, loudest * std::pow(10.0, kHeard_dB / 20));
  const auto heard = [least](double level) { return level > least; };
  const auto first = std::ranges::find_if(levels, heard);
  if (first == levels.end()) {
    return {};
  }
  const auto last = std::find_if(levels.rbegin(), levels.rend(), heard).base();
  return {.first = static_cast<size_t>(first - levels.begin()),
          .last = static_cast<size_t>(last - levels.begin())};
}

// Half a cosine over the first samples, or backwards over the last.
void fade(std::span<float> samples, size_t count, bool in) {
  count = std::min(count, samples.size());
  for (size_t i = 0; i < count; ++i) {
    const double phase = (static_cast<double>(i) + 0.5) / static_cast<double>(count);
    const auto gain = static_cast<float>(0.5 - 0.5 * std::cos(std::numbers::pi * phase));
    samples[in ? i : samples.size() - 1 - i] *= gain;
  }
}

}  // namespace

void trim_clause(ClauseSound& sound, int rate_hz) {
  const auto samples_of = [rate_hz](double seconds) {
    return static_cast<size_t>(std::lround(seconds * rate_hz));
  };
  const size_t window = samples_of(kWindow_s);
  const Heard heard = find_heard(sound.samples, window);
  const size_t first = heard.first * window;
  const size_t last = std::min(heard.last * window, sound.samples.size());
  const size_t begin = first - std::min(first, samples_of(kLead_s));
  const size_t end =
      heard.last == 0 ? 0 : std::min(last + samples_of(kTail_s), sound.samples.size());
  sound.samples.assign(sound.samples.begin() + static_cast<std::ptrdiff_t>(std::min(begin, end)),
                       sound.samples.begin() + static_cast<std::ptrdiff_t>(end));
  fade(sound.samples, samples_of(kFade_s), true);
  fade(sound.samples, samples_of(kFade_s), false);
  const auto moved = [&](size_t at) {
    return std::min(at - std::min(at, begin), sound.samples.size());
  };
  for (auto& word : sound.words) {
    for (PhonemeSound& phoneme : word) {
      phoneme.span = {.begin = moved(phoneme.span.begin), .end = moved(phoneme.span.end)};
    }
  }
}

}  // namespace mynah
