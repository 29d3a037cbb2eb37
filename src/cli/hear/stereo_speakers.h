// Who speaks, where each of two speakers has a channel: whisper.cpp's --diarize.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "audio/source.h"
#include "base/result.h"

namespace mynah::cli {

// Opens a recording, one channel alone.
using ChannelOpener = std::function<Result<std::unique_ptr<AudioSource>>(int channel)>;

// How loud two channels are over a recording's time.
class StereoSpeakers {
 public:
  // Reads both channels from end to end; keeps one number for 10 ms of each.
  static Result<StereoSpeakers> measure(const ChannelOpener& open_channel);

  // "0" or "1" where that channel is louder than the other by a tenth, else "?". Times are those of
  // the sources.
  [[nodiscard]] std::string speaker(double start_s, double end_s) const;

  // Whether each channel has sounds of its own, as of a telephone call's two ends, so that it can
  // be heard by itself; not where both have the same sound, as two microphones in a room have.
  [[nodiscard]] bool apart() const;

  // Whether what is heard on a channel is the other one, faintly: that is louder, and both rise and
  // fall together.
  [[nodiscard]] bool is_other(int channel, double start_s, double end_s) const;

 private:
  [[nodiscard]] size_t step(int channel, double time_s) const;

  // Sums of magnitudes up to each step, so that a span is one subtraction.
  std::vector<double> sums_[2];
};

}  // namespace mynah::cli
