// TurnWatch: listens to what a client of Wyoming sends, and finds where the turn ends.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/wyoming/mono_reader.h"
#include "speech/end_of_turn.h"
#include "speech/turn_detector.h"

namespace mynah::server {

// How a turn's end is found: by how it sounds, or by silence.
struct TurnWatchOptions {
  double pause_s = 0.7;  // so much silence ends a turn where no model hears its end
  Eagerness eagerness = Eagerness::Auto;
  std::shared_ptr<const TurnScorer> scorer = nullptr;  // null: none does
};

class TurnWatch {
 public:
  // InvalidInput for a rate that cannot be changed to 16 kHz.
  static Result<std::unique_ptr<TurnWatch>> create(std::shared_ptr<const VoiceDetector> voice,
                                                   const SampleFormat& format,
                                                   const TurnWatchOptions& options);

  // What was found in it. Errors: the detector's device, Cancelled.
  [[nodiscard]] Result<std::vector<VoiceEvent>> push(std::string_view bytes,
                                                     const std::stop_token& stop);

  // Somebody spoke and is done.
  [[nodiscard]] bool is_over() const { return ended_; }

  // It is longer than turns are, or nobody speaks for long.
  [[nodiscard]] bool is_too_long() const;

  // Where the last voice ended, or began.
  [[nodiscard]] int64_t silent_since() const { return silent_since_; }

  // What ended was no speech: listens for some.
  void go_on() { ended_ = false; }

 private:
  TurnWatch(std::shared_ptr<const VoiceDetector> voice, MonoReader reader,
            const TurnWatchOptions& options);

  std::shared_ptr<const VoiceDetector> voice_;
  MonoReader reader_;
  TurnDetector turns_;
  std::optional<EndOfTurn> end_of_turn_;
  int64_t silent_since_ = 0;  // samples
  bool ended_ = false;
};

}  // namespace mynah::server
