#include "server/realtime/sound_input.h"

#include <fmt/format.h>

#include "audio/g711.h"
#include "audio/pcm.h"
#include "speech/hearing.h"

namespace mynah::server {
namespace {

constexpr float kFull = 32768.0F;

int16_t sample_at(std::string_view bytes, SoundEncoding encoding, size_t i) {
  const auto byte = [bytes](size_t at) { return static_cast<uint8_t>(bytes[at]); };
  switch (encoding) {
    case SoundEncoding::Mulaw:
      return mulaw_to_s16(byte(i));
    case SoundEncoding::Alaw:
      return alaw_to_s16(byte(i));
    case SoundEncoding::Pcm16:
      break;
  }
  return static_cast<int16_t>(byte(2 * i) | byte(2 * i + 1) << 8U);
}

}  // namespace

Status SoundInput::push(std::string_view bytes, std::vector<float>& samples) {
  const size_t width = format_.encoding == SoundEncoding::Pcm16 ? 2 : 1;
  if (bytes.size() % width != 0) {
    return fail(
        ErrorCode::InvalidInput,
        fmt::format("audio: wanted samples of {} bytes, found {} bytes", width, bytes.size()));
  }
  std::vector<float> came(bytes.size() / width);
  for (size_t i = 0; i < came.size(); ++i) {
    came[i] = static_cast<float>(sample_at(bytes, format_.encoding, i)) / kFull;
  }
  if (format_.rate_hz == kHearingRate_hz) {
    samples.insert(samples.end(), came.begin(), came.end());
    return {};
  }
  if (!resampler_) {
    MYNAH_TRY(resampler_, Resampler::create(format_.rate_hz, kHearingRate_hz));
  }
  return resampler_->push(came, samples);
}

Status SoundInput::finish(std::vector<float>& samples) {
  if (!resampler_) {
    return {};
  }
  const Status finished = resampler_->finish(samples);
  resampler_.reset();
  return finished;
}

void encode_samples(std::span<const float> samples, SoundEncoding encoding, std::string& bytes) {
  for (const float sample : samples) {
    const int16_t value = to_s16(sample);
    switch (encoding) {
      case SoundEncoding::Mulaw:
        bytes += static_cast<char>(s16_to_mulaw(value));
        break;
      case SoundEncoding::Alaw:
        bytes += static_cast<char>(s16_to_alaw(value));
        break;
      case SoundEncoding::Pcm16:
        bytes += static_cast<char>(value & 0xFF);
        bytes += static_cast<char>(value >> 8U);
        break;
    }
  }
}

}  // namespace mynah::server
