// A desk in a room: a loudspeaker that the microphone hears, whoever speaks there, and devices that
// leave and come back, by a script and by frames alone.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "audio/device/sound_device.h"
#include "audio/echo/signals.h"

namespace mynah::cli {

class RoomDevice final : public SoundDevice {
 public:
  struct Script {
    int64_t frames = 0;
    // What somebody says there, from that sample on.
    std::map<int64_t, std::vector<float>> voices{};
    // Where a frame's sound comes from; none: the microphone.
    std::function<Listening(int64_t frame)> listening{};
    // Whether the loudspeaker is there; none: it is.
    std::function<bool(int64_t frame)> plays{};
    std::multimap<int64_t, SoundNews> news{};
    // Before each frame: its number.
    std::function<void(int64_t frame)> before{};
  };

  explicit RoomDevice(Script script) : script_(std::move(script)), taps_(echo::room(kTail_s, 31)) {}

  // One frame after the other, at once; the script's end is a stop.
  Result<SoundFrame> next(std::stop_token /*stop*/) override {
    const int64_t number = frame_++;
    if (number >= script_.frames) {
      return fail(ErrorCode::Cancelled, "the script is over");
    }
    if (script_.before) {
      script_.before(number);
    }
    const auto [first, last] = script_.news.equal_range(number);
    for (auto news = first; news != last; ++news) {
      news_.push_back(news->second);
    }
    SoundFrame frame{.number = number};
    frame.listening = script_.listening ? script_.listening(number) : Listening::Microphone;
    for (size_t i = 0; i < kSoundFrame; ++i) {
      frame.played[i] = take_played();
      const float heard = heard_echo() + voice_at(number * kFrame + static_cast<int64_t>(i));
      if (frame.listening == Listening::Microphone) {
        frame.heard[i] = heard;
      }
    }
    frame.said = said_;
    return frame;
  }

  std::vector<SoundNews> take_news() override { return std::exchange(news_, {}); }

  int64_t play(std::span<const float> voice) override {
    const int64_t first = said_ + std::ssize(waiting_);
    waiting_.insert(waiting_.end(), voice.begin(), voice.end());
    return first;
  }

  void pause(bool /*paused*/) override {}

  int64_t drop() override {
    ++drops;
    waiting_.clear();
    return said_;
  }

  void mute(bool /*muted*/) override {}

  [[nodiscard]] SoundState state() const override {
    SoundState state;
    state.said = said_;
    state.waiting = std::ssize(waiting_);
    return state;
  }

  [[nodiscard]] int playback_hz() const override { return kHeardHz; }

  [[nodiscard]] int64_t now() const { return frame_; }

  // Whether the loudspeaker gave sound between those frames.
  [[nodiscard]] bool sounded(int64_t from, int64_t to) const {
    const auto at = [this](int64_t frame) {
      return played_.begin() + std::min(frame * kFrame, std::ssize(played_));
    };
    return std::any_of(at(from), at(to), [](float x) { return x != 0; });
  }

  int drops = 0;

 private:
  static constexpr int64_t kFrame = kSoundFrame;
  static constexpr size_t kDelay = 640;
  static constexpr double kTail_s = 0.01;

  float take_played() {
    const bool any = !waiting_.empty() && (!script_.plays || script_.plays(frame_));
    const float sample = any ? waiting_.front() : 0.0F;
    if (any) {
      waiting_.pop_front();
      ++said_;
    }
    played_.push_back(sample);
    return sample;
  }

  // Of what was played up to now.
  [[nodiscard]] float heard_echo() const {
    const size_t heard = played_.size() - std::min(played_.size(), kDelay);
    const size_t taps = std::min(taps_.size(), heard);
    const float* const first = played_.data() + heard;
    float sum = 0;
    for (size_t i = 0; i < taps; ++i) {
      sum += taps_[i] * first[-1 - static_cast<ptrdiff_t>(i)];
    }
    return sum;
  }

  [[nodiscard]] float voice_at(int64_t sample) const {
    float sum = 0;
    for (const auto& [from, voice] : script_.voices) {
      if (sample >= from && sample < from + std::ssize(voice)) {
        sum += voice[static_cast<size_t>(sample - from)];
      }
    }
    return sum;
  }

  Script script_;
  std::vector<float> taps_;
  std::deque<float> waiting_;
  std::vector<float> played_;
  std::vector<SoundNews> news_;
  int64_t frame_ = 0;
  int64_t said_ = 0;
};

}  // namespace mynah::cli
