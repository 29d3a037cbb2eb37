#include "audio/channel_phase.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace mynah {
namespace {

// Fewer frames say nothing: 64 ms at 16 kHz, a block of a decoder at 48.
constexpr size_t kLeastFrames = 1024;
// Correlation below which the channels cancel: their sum then is 20 dB below either. It ends
// halfway to being independent; sounds of a room in between keep what was.
constexpr double kOpposed = -0.98;
constexpr double kNoLonger = -0.5;
// Mean square of what is taken for sound: -80 dB below full scale.
constexpr double kLeastSquare = 1e-8;
constexpr size_t kToldFrames = 32000;  // a second or two
// More are no speakers but a field's directions, or tracks of a recorder.
constexpr size_t kMostChannels = 16;

}  // namespace

ChannelPhase::ChannelPhase(std::span<const float> weights)
    : weights_(weights.begin(), weights.end()),
      energies_(weights.size()),
      signs_(weights.size(), 1.0F) {
  for (size_t second = 1; second < weights.size() && weights.size() <= kMostChannels; ++second) {
    for (size_t first = 0; first < second; ++first) {
      if (weights[first] != 0 && weights[second] != 0) {
        pairs_.push_back({.first = first, .second = second});
      }
    }
  }
}

void ChannelPhase::measure(std::span<const float> frames) {
  const size_t channels = weights_.size();
  const size_t count = frames.size() / channels;
  std::vector<double> energies(channels);
  std::vector<double> products(pairs_.size());
  for (size_t i = 0; i < count; ++i) {
    const float* const frame = frames.data() + i * channels;
    for (size_t channel = 0; channel < channels; ++channel) {
      energies[channel] += static_cast<double>(frame[channel]) * frame[channel];
    }
    for (size_t pair = 0; pair < pairs_.size(); ++pair) {
      products[pair] += static_cast<double>(frame[pairs_[pair].first]) * frame[pairs_[pair].second];
    }
  }
  const double all = std::reduce(energies.begin(), energies.end());
  if (!std::isfinite(all) || all < 2 * kLeastSquare * static_cast<double>(count)) {
    return;  // silence tells nothing
  }
  for (size_t channel = 0; channel < channels; ++channel) {
    energies_[channel] += energies[channel];
  }
  for (size_t pair = 0; pair < pairs_.size(); ++pair) {
    pairs_[pair].product += products[pair];
  }
  measured_ += count;
  if (measured_ >= kLeastFrames) {
    choose_signs();
  }
}

// Each channel's sign is that by which it does not cancel the first one that it would.
void ChannelPhase::choose_signs() {
  const double least = kLeastSquare * static_cast<double>(measured_);
  std::ranges::fill(signs_, 1.0F);
  std::vector<char> settled(signs_.size());
  for (Pair& pair : pairs_) {
    const double first = energies_[pair.first];
    const double second = energies_[pair.second];
    const double level = std::sqrt(first * second);
    const bool silent = first < least || second < least;  // there is nothing to cancel
    if (silent || pair.product > kNoLonger * level) {
      pair.opposed = false;
    } else if (pair.product < kOpposed * level) {
      pair.opposed = true;
    }
    if (pair.opposed && settled[pair.second] == 0) {
      signs_[pair.second] = -signs_[pair.first];
      settled[pair.second] = 1;
    }
    pair.product = 0;
  }
  std::ranges::fill(energies_, 0);
  measured_ = 0;
}

bool ChannelPhase::mix(std::span<const float> frames, std::span<float> mono) {
  const std::vector<float> before = signs_;
  if (!pairs_.empty()) {
    measure(frames);
  }
  const std::vector<float>& from = std::exchange(begun_, true) ? before : signs_;
  std::ranges::fill(mono, 0.0F);
  bool turned = false;
  for (size_t channel = 0; channel < weights_.size(); ++channel) {
    // A sign is turned over the block: a step would click.
    const float weight = weights_[channel] * from[channel];
    const float step = (weights_[channel] * signs_[channel] - weight) /
                       static_cast<float>(std::max<size_t>(mono.size(), 1));
    turned = turned || signs_[channel] < 0;
    for (size_t i = 0; i < mono.size(); ++i) {
      mono[i] += (weight + step * static_cast<float>(i)) * frames[i * weights_.size() + channel];
    }
  }
  turned_frames_ += turned ? mono.size() : 0;
  return turned_frames_ >= kToldFrames && !std::exchange(told_, true);
}

}  // namespace mynah
