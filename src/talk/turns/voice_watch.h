// VoiceWatch: listens to one microphone without a pause, and keeps what may still be heard of it: a
// turn from before its first sound on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>

#include "base/result.h"
#include "speech/sample_buffer.h"
#include "speech/turn_detector.h"
#include "speech/turn_level.h"

namespace mynah::talk {

// One thread. Samples are 16 kHz mono, numbered from the first one that came.
class VoiceWatch {
 public:
  explicit VoiceWatch(std::shared_ptr<const VoiceDetector> voice);

  // Errors: the detector's device.
  Status push(std::span<const float> samples);

  // Samples that came.
  [[nodiscard]] int64_t now() const { return samples_.end(); }

  // Somebody spoke since the last turn was over. A knock is somebody until it is seen how short it
  // is.
  [[nodiscard]] bool has_turn() const { return turn_.has_value(); }

  // Of the turn. Where its voice begins, and where what is heard of it does: a little before.
  [[nodiscard]] int64_t voice_began() const { return turn_->began; }

  [[nodiscard]] int64_t begin() const;

  // Whether there is a voice now; else where the last one ended, or where it went on behind a
  // pause.
  [[nodiscard]] bool is_voice() const { return turn_ && turn_->is_voice; }

  [[nodiscard]] int64_t voice_ended() const { return turn_->ended; }

  [[nodiscard]] int64_t went_on() const { return turn_->went_on; }

  // Whether so little of it came that it may be a knock.
  [[nodiscard]] bool may_be_knock() const;

  // For how long nobody spoke as loudly as whose turn it is (TurnLevel), though there is a voice.
  // Seconds.
  [[nodiscard]] double faint_s() const { return is_voice() ? level_.faint_s() : 0; }

  // How far the voice had fallen when it last was there (TurnLevel).
  [[nodiscard]] std::optional<double> fall_db() const { return level_.fall_db(); }

  // Samples with a voice in them.
  [[nodiscard]] int64_t voiced() const { return turns_.spoken() - turn_->spoken_before; }

  [[nodiscard]] std::span<const float> samples(int64_t from, int64_t to) const {
    return samples_.slice(from, to);
  }

  // The turn is over: what comes next is another's, which begins at `unheard` where that is given:
  // what was said from there on was not heard. Errors: the detector's device.
  Status end_turn(std::optional<int64_t> unheard = std::nullopt);

  // The turn is over, and the voice that goes on is another's: nobody has the turn until somebody
  // is as loud as who had it, or that voice is gone for a while.
  void end_turn_behind_voice();

 private:
  struct Turn {
    int64_t began = 0;
    int64_t spoken_before = 0;  // samples
    int64_t ended = 0;
    int64_t went_on = 0;
    bool is_voice = true;
  };

  void take(const VoiceEvent& event);
  // Behind pushes that the detector failed at. Errors: the detector's device.
  Result<TurnDetector::Found> listen_anew();
  void begin_turn(int64_t at, int64_t spoken_before);
  // Whether the last turn's speaker is there again, or the voice behind them is gone.
  void watch_behind();

  std::shared_ptr<const VoiceDetector> voice_;
  TurnDetector turns_;
  SampleBuffer samples_;
  TurnLevel level_;  // of the turn's speaker
  std::optional<Turn> turn_;
  bool deaf_ = false;                      // the detector failed at the last push
  bool is_voice_ = false;                  // anybody's
  std::optional<int64_t> behind_since_{};  // another voice goes on: where it was heard last
  std::optional<int64_t> unheard_;         // from where on
};

}  // namespace mynah::talk
