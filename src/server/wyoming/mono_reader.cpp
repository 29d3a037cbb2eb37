#include "server/wyoming/mono_reader.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace mynah::server {
namespace {

// A number of a client's; what no int holds is as wrong as the nearest that one does.
int nearest_int(int64_t number) {
  return static_cast<int>(std::clamp<int64_t>(number, std::numeric_limits<int>::min(),
                                              std::numeric_limits<int>::max()));
}

}  // namespace

Result<SampleFormat> sample_format_of(const WyomingMessage& message) {
  const SampleFormat format{.rate_hz = nearest_int(message.number("rate", 16000)),
                            .channels = nearest_int(message.number("channels", 1)),
                            .width = nearest_int(message.number("width", 2))};
  constexpr int kMostChannels = 64;
  constexpr int kMostWidth = 4;
  if (format.rate_hz < 1 || format.channels < 1 || format.channels > kMostChannels ||
      format.width < 1 || format.width > kMostWidth) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted a rate, 1 to {} channels and a width of 1 to {} "
                            "bytes, found {}, {} and {}",
                            message.type, kMostChannels, kMostWidth, format.rate_hz,
                            format.channels, format.width));
  }
  return format;
}

Result<MonoReader> MonoReader::create(const SampleFormat& format, int rate_hz) {
  MonoReader reader(format);
  if (format.rate_hz != rate_hz) {
    MYNAH_TRY(reader.resampler_, Resampler::create(format.rate_hz, rate_hz));
  }
  return reader;
}

std::vector<float> MonoReader::mono_of(std::string_view bytes) {
  left_ += bytes;
  const auto width = static_cast<size_t>(format_.width);
  const size_t frame = width * static_cast<size_t>(format_.channels);
  const size_t frames = left_.size() / frame;
  const auto full_scale = static_cast<float>(std::ldexp(1.0, 8 * format_.width - 1));
  std::vector<float> mono(frames);
  for (size_t i = 0; i < frames; ++i) {
    float sum = 0;
    for (size_t at = i * frame; at < (i + 1) * frame; at += width) {
      uint32_t value = 0;  // its bytes at the upper end, so that the sign is the number's
      for (size_t byte = 0; byte < width; ++byte) {
        value |= static_cast<uint32_t>(static_cast<unsigned char>(left_[at + byte]))
                 << (8 * (sizeof(value) - width + byte));
      }
      if (width == 1) {
        value ^= UINT32_C(1) << 31U;
      }
      sum += static_cast<float>(static_cast<int32_t>(value) >> (8 * (sizeof(value) - width)));
    }
    mono[i] = sum / (full_scale * static_cast<float>(format_.channels));
  }
  left_.erase(0, frames * frame);
  return mono;
}

Result<std::vector<float>> MonoReader::read(std::string_view bytes) {
  std::vector<float> samples = mono_of(bytes);
  if (!resampler_) {
    return samples;
  }
  std::vector<float> changed;
  MYNAH_TRY_STATUS(resampler_->push(samples, changed));
  return changed;
}

Result<std::vector<float>> MonoReader::finish() {
  std::vector<float> rest;
  if (resampler_) {
    MYNAH_TRY_STATUS(resampler_->finish(rest));
  }
  return rest;
}

}  // namespace mynah::server
