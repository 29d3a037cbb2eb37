#include "speech/automatic_level.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/check.h"

namespace mynah {
namespace {

// Peaks are brought up to -20 dBFS, those of -60 at most: with Silero, speech whose peaks are at
// -20, -30 and -40 dBFS loses 1.7, 3.4 and 7 % of its frames.
constexpr double kWantedPeak = 0.1;
constexpr double kMostGain = 100;

// How a peak is forgotten, in decibels a second: slowly, so that a pause is not taken for a quiet
// recording, and fast where it was a knock at the microphone, which lasts less than kLastingBlocks.
constexpr double kSlowly = 0.5;
constexpr double kFast = 40;
constexpr size_t kLastingBlocks = 3;
// How long a recording is heard before anything is done to it: most begin with a moment of silence,
// and a detector that hears its noise brought up finds other words' ends than it does without; and
// what is low at first may be a passing noise.
constexpr size_t kBlocksUnchanged = 10;

// Below speech. Telephones leave out everything up to 300 Hz, and Silero finds as much.
constexpr double kLowest_hz = 200;

// A sound below speech is steady where even its quietest block of a second is as loud as this, next
// to the loudest of the rest in two seconds. Clean speech is at -17 dB there (of its blocks 95 %
// are below), with noise at 0 dB at -6; mains hum at 0 dB at -4, at 10 dB above speech at 5.
constexpr size_t kLowBlocks = 31;
constexpr size_t kHighBlocks = 62;
constexpr double kSteady = 0.65;  // -2 dB
constexpr double kPassing = 0.1;  // -10 dB
// -90 dBFS: whatever is there, nobody hears it.
constexpr double kLeastEnergy = 1e-9;

// Decibels a second as a factor a block of 32 ms.
double fall(double decibels) {
  constexpr double kBlock_s = 0.032;
  return std::pow(10.0, -decibels * kBlock_s / 20);
}

double highest(std::span<const float> samples) {
  float peak = 0;
  for (const float sample : samples) {
    peak = std::max(peak, std::abs(sample));
  }
  return peak;
}

void keep_last(std::deque<double>& values, double value, size_t most) {
  values.push_back(value);
  if (values.size() > most) {
    values.pop_front();
  }
}

// Multiplies by what goes from one factor to the other over the samples.
template <class Use>
void glide(double from, double to, size_t count, Use use) {
  const double step = (to - from) / static_cast<double>(count);
  for (size_t i = 0; i < count; ++i) {
    use(i, from + step * static_cast<double>(i + 1));
  }
}

}  // namespace

void AutomaticLevel::HighPass::settle(double sample) {
  z1 = -b0 * sample;
  z2 = b0 * sample;
}

double AutomaticLevel::HighPass::next(double sample) {
  const double out = b0 * sample + z1;
  z1 = -2 * b0 * sample - a1 * out + z2;
  z2 = b0 * sample - a2 * out;
  return out;
}

AutomaticLevel::AutomaticLevel(int rate_hz, size_t block) : block_(block) {
  MYNAH_CHECK(rate_hz > 0 && block > 0);
  // The bilinear transform of 1 / (1 + sqrt(2) s + s^2), as in R. Bristow-Johnson's Audio EQ
  // Cookbook.
  const double angle = 2 * std::numbers::pi * kLowest_hz / rate_hz;
  const double alpha = std::sin(angle) / std::numbers::sqrt2;
  filter_.b0 = (1 + std::cos(angle)) / 2 / (1 + alpha);
  filter_.a1 = -2 * std::cos(angle) / (1 + alpha);
  filter_.a2 = (1 - alpha) / (1 + alpha);
  reset();
}

void AutomaticLevel::reset() {
  begun_ = false;
  waiting_.clear();
  removed_ = 0;
  gain_ = 0;
  lasting_peak_ = kWantedPeak / kMostGain;
  last_peak_ = kWantedPeak / kMostGain;
  low_.clear();
  high_.clear();
  peaks_.clear();
}

std::vector<float> AutomaticLevel::push(std::span<const float> samples) {
  std::vector<float> out;
  out.reserve(waiting_.size() + samples.size());
  while (!samples.empty()) {
    const size_t count = std::min(samples.size(), block_ - waiting_.size());
    waiting_.insert(waiting_.end(), samples.begin(),
                    samples.begin() + static_cast<ptrdiff_t>(count));
    samples = samples.subspan(count);
    if (waiting_.size() == block_) {
      hear_block(out);
    }
  }
  return out;
}

std::vector<float> AutomaticLevel::flush() {
  std::vector<float> out;
  if (!waiting_.empty()) {
    hear_block(out);
  }
  reset();
  return out;
}

void AutomaticLevel::analyse() {
  if (!std::exchange(begun_, true)) {
    filter_.settle(waiting_.front());
  }
  low_part_.resize(waiting_.size());
  double low = 0;
  double high = 0;
  double peak = 0;
  for (size_t i = 0; i < waiting_.size(); ++i) {
    const double rest = filter_.next(waiting_[i]);
    low_part_[i] = waiting_[i] - rest;
    low += low_part_[i] * low_part_[i];
    high += rest * rest;
    peak = std::max(peak, std::abs(rest));
  }
  const auto count = static_cast<double>(waiting_.size());
  keep_last(low_, low / count, kLowBlocks);
  keep_last(high_, high / count, kHighBlocks);
  keep_last(peaks_, peak, kLastingBlocks);
}

double AutomaticLevel::wanted_removal() const {
  if (low_.size() <= kBlocksUnchanged) {
    return 0;
  }
  const double steady = *std::ranges::min_element(low_);
  const double loudest = *std::ranges::max_element(high_);
  if (steady > kLeastEnergy && steady > kSteady * loudest) {
    return 1;
  }
  return steady < kPassing * loudest ? 0 : removed_;
}

void AutomaticLevel::remove_low() {
  const double wanted = wanted_removal();
  if (wanted > 0 || removed_ > 0) {
    glide(removed_, wanted, waiting_.size(),
          [&](size_t i, double part) { waiting_[i] -= static_cast<float>(part * low_part_[i]); });
  }
  removed_ = wanted;
}

double AutomaticLevel::next_gain(double peak) {
  const double least = kWantedPeak / kMostGain;
  lasting_peak_ =
      std::max({*std::ranges::min_element(peaks_), lasting_peak_ * fall(kSlowly), least});
  last_peak_ = std::max({peak, last_peak_ * fall(kFast), least});
  return high_.size() <= kBlocksUnchanged
             ? 1.0
             : std::max(1.0, kWantedPeak / std::max(lasting_peak_, last_peak_));
}

void AutomaticLevel::hear_block(std::vector<float>& out) {
  analyse();
  remove_low();
  const double gain = next_gain(highest(waiting_));
  // Down at once, so that nothing is louder than it may be; up within the block.
  const double before = gain_ == 0 ? gain : std::min(gain_, gain);
  if (gain > 1 || before > 1) {
    glide(before, gain, waiting_.size(),
          [&](size_t i, double factor) { waiting_[i] *= static_cast<float>(factor); });
  }
  gain_ = gain;
  out.insert(out.end(), waiting_.begin(), waiting_.end());
  waiting_.clear();
}

// Whether it has begun, the filter, what is removed, the gain, both peaks, then four lists with
// their lengths before them.
std::vector<double> AutomaticLevel::state() const {
  std::vector<double> values = {begun_ ? 1.0 : 0.0, filter_.z1, filter_.z2, removed_, gain_,
                                lasting_peak_,      last_peak_};
  const auto add = [&values](const auto& list) {
    values.push_back(static_cast<double>(list.size()));
    values.insert(values.end(), list.begin(), list.end());
  };
  add(low_);
  add(high_);
  add(peaks_);
  add(waiting_);
  return values;
}

bool AutomaticLevel::set_state(std::span<const double> values) {
  constexpr size_t kNumbers = 7;
  if (values.size() < kNumbers) {
    return false;
  }
  const std::span<const double> numbers = values.first(kNumbers);
  values = values.subspan(kNumbers);
  std::array<std::span<const double>, 4> lists;
  const std::array<size_t, 4> most = {kLowBlocks, kHighBlocks, kLastingBlocks, block_ - 1};
  for (size_t i = 0; i < lists.size(); ++i) {
    const double count = values.empty() ? -1 : values.front();
    if (!(count >= 0 && count <= static_cast<double>(most[i])) ||
        values.size() - 1 < static_cast<size_t>(count)) {
      return false;
    }
    lists[i] = values.subspan(1, static_cast<size_t>(count));
    values = values.subspan(1 + lists[i].size());
  }
  const auto& [low, high, peaks, waiting] = lists;
  if (!values.empty() || !(numbers[3] >= 0 && numbers[3] <= 1) ||
      !(numbers[4] >= 0 && numbers[4] <= kMostGain) || low.empty() != peaks.empty() ||
      low.empty() != high.empty()) {
    return false;
  }
  begun_ = numbers[0] != 0;
  filter_.z1 = numbers[1];
  filter_.z2 = numbers[2];
  removed_ = numbers[3];
  gain_ = numbers[4];
  lasting_peak_ = numbers[5];
  last_peak_ = numbers[6];
  low_.assign(low.begin(), low.end());
  high_.assign(high.begin(), high.end());
  peaks_.assign(peaks.begin(), peaks.end());
  waiting_.clear();
  for (const double sample : waiting) {
    waiting_.push_back(static_cast<float>(sample));
  }
  return true;
}

}  // namespace mynah
