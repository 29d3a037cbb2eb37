// AlsaPcm: one direction of an ALSA device.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <alsa/asoundlib.h>

#include "base/result.h"

namespace mynah {

// Mono samples as floats, without waiting. Not thread-safe.
class AlsaPcm {
 public:
  enum class Direction { Playback, Capture };

  // Opens `name` as alsa.conf knows it, at `rate_hz`, with about `buffer_ms` of buffer; a card by
  // its number (hw:0) converts where the card itself cannot. Environment where it cannot: what ALSA
  // said, and what to do.
  static Result<AlsaPcm> open(const std::string& name, Direction direction, int rate_hz,
                              int buffer_ms);

  // Samples that can be written or read now. Device where the device is gone; what was starved or
  // suspended begins anew by itself and is counted.
  Result<int64_t> ready();

  // Writes or reads so many of `samples`; returns how many were.
  Result<size_t> write(std::span<const float> samples);
  Result<size_t> read(std::span<float> samples);

  // Samples between this program and the air; none where that is not known now.
  [[nodiscard]] int64_t delay() const;

  [[nodiscard]] int64_t buffer() const { return buffer_; }

  // Times that it was starved or suspended since the last call.
  int take_xruns();

  // Samples since it began.
  [[nodiscard]] int64_t position() const { return position_; }

 private:
  struct Close {
    void operator()(snd_pcm_t* pcm) const { ::snd_pcm_close(pcm); }
  };

  AlsaPcm(std::unique_ptr<snd_pcm_t, Close> pcm, Direction direction)
      : pcm_(std::move(pcm)), direction_(direction) {}

  Status set_up(int rate_hz, int buffer_ms);
  // After ALSA's negative answer: begins anew where that helps.
  Result<int64_t> recovered(int64_t answer);

  std::unique_ptr<snd_pcm_t, Close> pcm_;
  Direction direction_;
  int64_t buffer_ = 0;
  int64_t position_ = 0;
  int xruns_ = 0;
};

}  // namespace mynah
