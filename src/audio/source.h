// AudioSource: samples that arrive piece by piece, already mono and at the rate that was asked for.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"

namespace mynah {

// The audio tracks of a file, and the one that is heard.
struct AudioTracks {
  int count = 1;
  int heard = 1;  // from 1
};

// A recording being read: a file, a pipe, memory. Not thread-safe; owned by one reader.
class AudioSource {
 public:
  virtual ~AudioSource() = default;

  // Fills `out` from its front with mono samples in [-1, 1]; returns how many: often fewer than
  // fit, so that a live recording is heard as it comes, and 0 only at the end. A damaged recording
  // gives what could be read, then the error.
  virtual Result<size_t> read(std::span<float> out) = 0;

  // Samples a second of what read() gives.
  [[nodiscard]] virtual int rate_hz() const = 0;

  // Length of the whole recording where its header says so.
  [[nodiscard]] virtual std::optional<double> duration_s() const = 0;

  [[nodiscard]] virtual AudioTracks tracks() const { return {}; }
};

}  // namespace mynah
