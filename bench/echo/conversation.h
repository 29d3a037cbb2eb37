// Conversation: what a microphone in a simulated room hears of somebody, of what is played there,
// and of noise.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "audio/echo/echo_filter.h"
#include "audio/echo/played_sound.h"
#include "base/result.h"
#include "room.h"

namespace mynah::bench {

// A frame as the machine has it, and what it is made of.
struct RoomFrame {
  std::vector<float> captured;
  std::vector<float> played;
  std::vector<float> echo;   // in captured
  std::vector<float> other;  // somebody and noise, in captured
};

// Something said: samples of the whole conversation.
struct Said {
  int64_t begin = 0;
  int64_t end = 0;
  std::string text;
};

// One line of tools/echo_corpus.py.
class Conversation {
 public:
  // Reads its recordings and computes its room. Errors: a line that is no such object, a recording
  // that cannot be read.
  static Result<Conversation> make(const nlohmann::json& line);

  // The next 10 ms; false at the end. While `stopped` the loudspeaker is silent, fades included.
  bool next(bool stopped, RoomFrame& frame);

  [[nodiscard]] const std::vector<Said>& near() const { return near_said_; }

  [[nodiscard]] const std::vector<Said>& far() const { return far_said_; }

  // Samples, the delay's path through the air included.
  [[nodiscard]] double delay() const { return delay_ + direct_; }

  [[nodiscard]] double drift_ppm() const { return drift_ppm_; }

 private:
  Conversation(std::span<const float> echo_taps, int64_t samples);

  double delay_ = 0;   // samples
  double direct_ = 0;  // samples from the loudspeaker to the microphone
  double drift_ppm_ = 0;
  double drive_ = 0;
  double far_gain_ = 1;   // of the loudspeaker's sound, before the room
  double echo_gain_ = 1;  // behind it
  int64_t at_ = 0;
  float open_ = 1;  // the fade of what is played
  std::vector<float> far_;
  std::vector<float> other_;
  std::vector<Said> near_said_;
  std::vector<Said> far_said_;
  echo::PlayedSound loudspeaker_;
  Convolver echo_room_;
};

}  // namespace mynah::bench
