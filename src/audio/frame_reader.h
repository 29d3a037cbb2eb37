// FrameReader: the samples of a recording as its container holds them, before channels are mixed
// and the rate is changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "audio/source.h"
#include "audio/speakers.h"
#include "base/result.h"

namespace mynah {

// Reads interleaved frames (one sample a channel) in order. Owned by one reader.
class FrameReader {
 public:
  virtual ~FrameReader() = default;

  // Frames a second, as the container says.
  [[nodiscard]] virtual int rate_hz() const = 0;

  [[nodiscard]] virtual int channels() const = 0;

  // The speaker of each channel; empty where that is not known.
  [[nodiscard]] virtual std::span<const Speaker> speakers() const { return {}; }

  [[nodiscard]] virtual AudioTracks tracks() const { return {}; }

  // Frames in the whole recording where its header says so.
  [[nodiscard]] virtual std::optional<int64_t> frames() const = 0;

  // Fills `out` (a whole number of frames, at least one) from its front and returns how many frames
  // it wrote: fewer where no more is there yet, 0 at the end. A damaged recording gives what could
  // be read, then the error.
  virtual Result<size_t> read(std::span<float> out) = 0;

  // Moves `count` frames forward and returns how many there were. Past the end is no error: read()
  // then gives 0.
  virtual Result<int64_t> skip(int64_t count) = 0;

  // After the end: goes on to the recording that was joined on behind this one, which may be of
  // another rate and other channels. False: there is none.
  virtual Result<bool> next() { return false; }
};

// Skips by reading and forgetting, for what cannot be sought in.
Result<int64_t> skip_by_reading(FrameReader& reader, int64_t count);

}  // namespace mynah
