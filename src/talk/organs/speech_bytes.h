// SpeechBytes: the sound that a service answers with, samples as its bytes come.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "audio/resampler.h"
#include "audio/wav_header.h"
#include "base/result.h"

namespace mynah::talk {

// Reads WAV (also several, one behind the other, as servers write them that encode each piece by
// itself) and samples without a header: 16 bits, little-endian, one channel.
class SpeechBytes {
 public:
  // `plain_rate_hz`: of samples without a header. `out_hz`: of what it gives.
  SpeechBytes(int plain_rate_hz, int out_hz) : plain_rate_hz_(plain_rate_hz), out_hz_(out_hz) {}

  // Appends what these bytes give. InvalidInput where they are no such sound.
  [[nodiscard]] Status push(std::span<const std::byte> bytes, std::vector<float>& out);

  // The sound is over: the rest. InvalidInput where it had no samples.
  [[nodiscard]] Status finish(std::vector<float>& out);

 private:
  enum class State : uint8_t { Begin, Header, Samples, Rest };

  // Whether it came further.
  [[nodiscard]] Result<bool> step(std::vector<float>& out);
  [[nodiscard]] Status begin();
  [[nodiscard]] Result<bool> read_header(std::vector<float>& out);
  [[nodiscard]] Status begin_samples(const WavHeader& header, std::vector<float>& out);
  [[nodiscard]] Result<bool> read_samples(std::vector<float>& out);
  [[nodiscard]] Status end_rate(std::vector<float>& out);
  [[nodiscard]] Status give(std::span<const float> samples, std::vector<float>& out);

  int plain_rate_hz_;
  int out_hz_;
  State state_ = State::Begin;
  std::vector<std::byte> held_;  // that are not read yet
  WavHeader header_;             // of what is read
  std::optional<int64_t> left_;  // bytes of its samples; none: all there are
  int rate_hz_ = 0;              // of what was read last
  std::optional<Resampler> resampler_;
  size_t given_ = 0;
};

}  // namespace mynah::talk
