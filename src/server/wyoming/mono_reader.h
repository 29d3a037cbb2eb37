// MonoReader: what is sent over Wyoming as samples, as samples of one channel at a rate.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audio/resampler.h"
#include "base/result.h"
#include "server/wyoming/message.h"

namespace mynah::server {

// Samples as they are sent: whole numbers, little-endian; of one byte without a sign.
struct SampleFormat {
  int rate_hz = 16000;
  int channels = 1;
  int width = 2;  // bytes
};

// What "audio-start" or "audio-chunk" says; InvalidInput for what no samples are: rates below 1,
// more than 64 channels, wider than 4 bytes.
[[nodiscard]] Result<SampleFormat> sample_format_of(const WyomingMessage& message);

class MonoReader {
 public:
  // InvalidInput for a rate that cannot be changed to `rate_hz`.
  static Result<MonoReader> create(const SampleFormat& format, int rate_hz);

  // The channels' means of the frames that are whole now; what is left of the last is kept.
  [[nodiscard]] Result<std::vector<float>> read(std::string_view bytes);

  // What a change of rate still holds: nothing follows.
  [[nodiscard]] Result<std::vector<float>> finish();

 private:
  explicit MonoReader(const SampleFormat& format) : format_(format) {}

  [[nodiscard]] std::vector<float> mono_of(std::string_view bytes);

  SampleFormat format_;
  std::optional<Resampler> resampler_;
  std::string left_;
};

}  // namespace mynah::server
