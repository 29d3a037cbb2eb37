// SoundInput: the sound that a client sends, as models hear it: 16 kHz, one channel.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "audio/resampler.h"
#include "base/result.h"

namespace mynah::server {

enum class SoundEncoding : uint8_t { Pcm16, Mulaw, Alaw };

struct SoundFormatWish {
  SoundEncoding encoding = SoundEncoding::Pcm16;
  int rate_hz = 24000;

  bool operator==(const SoundFormatWish&) const = default;
};

class SoundInput {
 public:
  explicit SoundInput(const SoundFormatWish& format) : format_(format) {}

  // Appends to `samples` what the bytes make; some of it comes with later bytes. InvalidInput:
  // they are no whole samples.
  Status push(std::string_view bytes, std::vector<float>& samples);

  // Appends the rest; what comes after is the beginning of another sound.
  Status finish(std::vector<float>& samples);

 private:
  SoundFormatWish format_;
  std::optional<Resampler> resampler_;  // where the rate is another
};

// As `format` has it, at its rate. Appends.
void encode_samples(std::span<const float> samples, SoundEncoding encoding, std::string& bytes);

}  // namespace mynah::server
