// Who speaks, where each of two speakers has a channel: whisper.cpp's --diarize.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "audio/source.h"
#include "base/result.h"

namespace mynah::cli {

// How loud two channels are over a recording's time.
class StereoSpeakers {
 public:
  // Reads both channels from end to end; keeps one number for 10 ms of each.
  static Result<StereoSpeakers> measure(
      const std::function<Result<std::unique_ptr<AudioSource>>(int channel)>& open_channel);

  // "0" or "1" where that channel is louder than the other by a tenth, else "?". Times are those of
  // the sources.
  [[nodiscard]] std::string speaker(double start_s, double end_s) const;

 private:
  // Sums of magnitudes up to each step, so that a span is one subtraction.
  std::vector<double> sums_[2];
};

}  // namespace mynah::cli
