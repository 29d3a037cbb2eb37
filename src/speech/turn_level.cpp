#include "speech/turn_level.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace mynah {
namespace {

constexpr size_t kLevelFrame = 512;  // samples: one of Silero's
constexpr double kFrame_s = 512.0 / 16000;

// The speaker's level is what a fifth of their frames exceed; frames down to five decibels below it
// are as loud. Of a speaker half are, of a voice ten decibels below them one in twelve: chosen on
// the mixes of docs/turns.md.
constexpr double kLouder = 0.2;
constexpr int kBelow_db = 5;
constexpr int64_t kLoudFrames = 4;
constexpr int64_t kKnown = 16;  // frames of voice after which it is known whose turn it is

// Chosen with the rule on the first half of the speakers of docs/turns.md.
constexpr size_t kFallFrames = 3;

}  // namespace

void TurnLevel::begin() {
  heard_.fill(0);
  loud_.fill(true);
  spoken_ = 0;
  faint_ = 0;
}

int TurnLevel::level_db() const {
  const auto louder = static_cast<int64_t>(kLouder * static_cast<double>(spoken_));
  int64_t above = 0;
  for (size_t below = 0; below < kLevels; ++below) {
    above += heard_[below];
    if (above > louder) {
      return -static_cast<int>(below);
    }
  }
  return -static_cast<int>(kLevels);
}

int TurnLevel::threshold_db() const {
  return level_db() - kBelow_db;
}

void TurnLevel::add_frame(double energy) {
  constexpr double kLeast = 1e-10;
  const double db = 10 * std::log10(std::max(energy, kLeast));
  if (voiced_) {
    last_db_[static_cast<size_t>(spoken_) % kLast] = db;
    ++heard_[static_cast<size_t>(std::clamp(-db, 0.0, kLevels - 1.0))];
    ++spoken_;
  }
  loud_[next_] = db >= threshold_db();
  next_ = (next_ + 1) % kRecent;
  const bool known = spoken_ >= kKnown;
  faint_ = !known || std::ranges::count(loud_, true) >= kLoudFrames ? 0 : faint_ + 1;
}

void TurnLevel::push(std::span<const float> samples, bool voice) {
  for (const float sample : samples) {
    sum_ += static_cast<double>(sample) * sample;
    voiced_ = voiced_ || voice;
    if (++in_frame_ == kLevelFrame) {
      add_frame(sum_ / kLevelFrame);
      sum_ = 0;
      in_frame_ = 0;
      voiced_ = false;
    }
  }
}

std::optional<double> TurnLevel::fall_db() const {
  const size_t known = std::min(static_cast<size_t>(spoken_), kLast);
  if (known < kFallFrames) {
    return std::nullopt;
  }
  // The ring is filled from its begin on.
  std::array<double, kFallFrames> loudest{};
  std::ranges::partial_sort_copy(std::span(last_db_).first(known), loudest, std::greater());
  return level_db() - std::accumulate(loudest.begin(), loudest.end(), 0.0) / kFallFrames;
}

double TurnLevel::faint_s() const {
  return static_cast<double>(faint_) * kFrame_s;
}

}  // namespace mynah
