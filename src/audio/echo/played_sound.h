// PlayedSound: what a loudspeaker played of late, read at any moment between its samples.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "audio/sinc_reader.h"

namespace mynah::echo {

// The last seconds of a signal, which is 0 before its first sample. What is read has the
// frequencies that both rates have (SincReader).
class PlayedSound {
 public:
  // `ratio`: samples of it for one that is read, such as 24000 / 16000; `seconds` of it are kept.
  PlayedSound(int rate_hz, double ratio, double seconds);

  void push(std::span<const float> samples);

  // The value at `position`, in samples since the first; 0 where that is forgotten. What did not
  // come yet counts as 0: positions up to readable() are right.
  [[nodiscard]] float at(double position) const;

  // Positions below need nothing that did not come yet.
  [[nodiscard]] double readable() const { return static_cast<double>(written_ - reader_.reach()); }

  [[nodiscard]] int64_t written() const { return written_; }

 private:
  SincReader reader_;
  int64_t written_ = 0;
  std::vector<float> ring_;
};

}  // namespace mynah::echo
