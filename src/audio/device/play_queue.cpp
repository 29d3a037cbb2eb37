#include "audio/device/play_queue.h"

#include <algorithm>
#include <cmath>

namespace mynah {
namespace {

// Of what was played: longer than any way from a loudspeaker to the answer of a microphone.
constexpr int kKeptS = 4;

}  // namespace

PlayQueue::PlayQueue(int rate_hz) : played_(static_cast<size_t>(rate_hz) * kKeptS) {}

int64_t PlayQueue::add(std::span<const float> voice) {
  const int64_t first = voice_ + static_cast<int64_t>(waiting_.size());
  waiting_.insert(waiting_.end(), voice.begin(), voice.end());
  return first;
}

void PlayQueue::pull(std::span<float> out) {
  const size_t count = paused_ ? 0 : std::min(out.size(), waiting_.size());
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
  std::ranges::fill(std::copy(waiting_.begin(), end, out.begin()), out.end(), 0.0F);
  waiting_.erase(waiting_.begin(), end);
  note_run(static_cast<int64_t>(count));
  for (const float sample : out) {
    played_[static_cast<size_t>(position_) % played_.size()] = sample;
    ++position_;
  }
}

void PlayQueue::note_run(int64_t length) {
  if (length == 0) {
    return;
  }
  if (!runs_.empty() && runs_.back().position + runs_.back().length == position_) {
    runs_.back().length += length;
  } else {
    runs_.push_back({.position = position_, .voice = voice_, .length = length});
  }
  voice_ += length;
  const int64_t kept_from = position_ - static_cast<int64_t>(played_.size());
  while (runs_.front().position + runs_.front().length < kept_from) {
    runs_.pop_front();
  }
}

void PlayQueue::lost(double position) {
  const int64_t said = said_at(position);
  std::vector<float> again;
  for (const Run& run : runs_) {
    for (int64_t i = std::max<int64_t>(said - run.voice, 0); i < run.length; ++i) {
      again.push_back(at(run.position + i));
    }
  }
  waiting_.insert(waiting_.begin(), again.begin(), again.end());
  voice_ = said;
  while (!runs_.empty() && runs_.back().voice >= said) {
    runs_.pop_back();
  }
  if (!runs_.empty()) {
    runs_.back().length = std::min(runs_.back().length, said - runs_.back().voice);
  }
  const auto oldest = position_ - static_cast<int64_t>(played_.size());
  for (auto gone =
           std::max(static_cast<int64_t>(std::ceil(position)), std::max<int64_t>(oldest, 0));
       gone < position_; ++gone) {
    played_[static_cast<size_t>(gone) % played_.size()] = 0;
  }
}

int64_t PlayQueue::said_at(double position) const {
  const auto before = static_cast<int64_t>(std::floor(position));
  for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
    if (run->position < before) {
      return run->voice + std::min(before - run->position, run->length);
    }
  }
  return runs_.empty() ? voice_ : runs_.front().voice;
}

float PlayQueue::at(int64_t position) const {
  const bool kept = position >= 0 && position < position_ &&
                    position >= position_ - static_cast<int64_t>(played_.size());
  return kept ? played_[static_cast<size_t>(position) % played_.size()] : 0.0F;
}

}  // namespace mynah
