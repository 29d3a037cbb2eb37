// TurnLevel: how loudly whoever has the turn speaks: for how long nobody did, so that a television
// behind them does not keep it open, and how far their voice has fallen, as it does where all is
// said.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace mynah {

// One recording at 16 kHz; one thread at a time.
class TurnLevel {
 public:
  // A turn begins with the next sample: whose it is will be heard.
  void begin();

  // The samples that come next; `voice`: somebody speaks in them, as the detector has it.
  void push(std::span<const float> samples, bool voice);

  // Seconds since the sound was last as loud as the turn's speaker, who is so in a quarter of the
  // frames of half a second at least; 0 until it is known who that is.
  [[nodiscard]] double faint_s() const;

  // Decibels between the speaker's level and the last of their voice: the mean of the three loudest
  // frames of its last 0.3 s. None before so many were spoken.
  [[nodiscard]] std::optional<double> fall_db() const;

 private:
  void add_frame(double energy);
  // What a fifth of the speaker's frames exceed.
  [[nodiscard]] int level_db() const;
  // What is as loud as the speaker, in decibels; none before half a second was spoken.
  [[nodiscard]] int threshold_db() const;

  static constexpr size_t kLevels = 100;  // of one decibel, below full scale
  static constexpr size_t kRecent = 16;   // frames: half a second
  static constexpr size_t kLast = 9;      // frames: 0.3 s

  std::array<int64_t, kLevels> heard_{};  // frames in which somebody spoke, by their level
  int64_t spoken_ = 0;                    // how many they are
  std::array<bool, kRecent> loud_{};      // of the last frames, as a ring
  size_t next_ = 0;
  std::array<double, kLast> last_db_{};  // of the last frames with a voice, as a ring
  double sum_ = 0;                       // of squares in the frame that is not whole
  size_t in_frame_ = 0;
  bool voiced_ = false;  // some of it
  int64_t faint_ = 0;    // frames
};

}  // namespace mynah
