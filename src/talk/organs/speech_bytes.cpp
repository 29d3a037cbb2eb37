#include "talk/organs/speech_bytes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace mynah::talk {

namespace {

// As far as anything is known by.
constexpr size_t kSignature = 4;
constexpr int kLeastRate_hz = 1000;
constexpr int kMostRate_hz = 384'000;

uint64_t little_endian(const std::byte* bytes, size_t count) {
  uint64_t value = 0;
  for (size_t i = 0; i < count; ++i) {
    value |= std::to_integer<uint64_t>(bytes[i]) << (8 * i);
  }
  return value;
}

// A sample of `bits` with a sign, full scale is 1.
float of_bits(uint64_t value, int bits) {
  const auto sign_first = static_cast<int64_t>(value << (64 - bits));
  return static_cast<float>(std::ldexp(static_cast<double>(sign_first), -63));
}

using Decode = float (*)(const std::byte*);

struct Encoding {
  std::string_view name;  // as WavHeader has it
  size_t bytes;
  Decode decode;
};

// What servers of speech write.
constexpr std::array<Encoding, 5> kEncodings = {
    {{"s16le", 2, [](const std::byte* bytes) { return of_bits(little_endian(bytes, 2), 16); }},
     {"u8", 1,
      [](const std::byte* bytes) {
        constexpr float kMiddle = 128;
        return (static_cast<float>(std::to_integer<int>(*bytes)) - kMiddle) / kMiddle;
      }},
     {"s24le", 3, [](const std::byte* bytes) { return of_bits(little_endian(bytes, 3), 24); }},
     {"s32le", 4, [](const std::byte* bytes) { return of_bits(little_endian(bytes, 4), 32); }},
     {"f32le", 4, [](const std::byte* bytes) {
        const auto sample = std::bit_cast<float>(static_cast<uint32_t>(little_endian(bytes, 4)));
        return std::isfinite(sample) ? std::clamp(sample, -1.0F, 1.0F) : 0.0F;
      }}}};

// What a sound in another format begins with; "": none that is known.
std::string_view other_format(std::string_view begin) {
  struct Known {
    std::string_view begin;
    std::string_view name;
  };

  constexpr std::array<Known, 8> kKnown = {{{"ID3", "mp3"},
                                            {"\xFF\xFB", "mp3"},
                                            {"\xFF\xF3", "mp3"},
                                            {"OggS", "Ogg"},
                                            {"fLaC", "flac"},
                                            {"<!DO", "a page of HTML"},
                                            {"<htm", "a page of HTML"},
                                            {"{\"", "JSON"}}};
  const auto* const found = std::ranges::find_if(
      kKnown, [&](const Known& known) { return begin.starts_with(known.begin); });
  return found == kKnown.end() ? std::string_view() : found->name;
}

}  // namespace

Status SpeechBytes::push(std::span<const std::byte> bytes, std::vector<float>& out) {
  if (state_ == State::Rest) {
    return {};
  }
  held_.insert(held_.end(), bytes.begin(), bytes.end());
  while (true) {
    MYNAH_TRY(const bool further, step(out));
    if (!further) {
      return {};
    }
  }
}

Result<bool> SpeechBytes::step(std::vector<float>& out) {
  switch (state_) {
    case State::Begin:
      if (held_.size() < kSignature) {
        return false;
      }
      MYNAH_TRY_STATUS(begin());
      if (state_ == State::Samples) {
        MYNAH_TRY_STATUS(begin_samples(header_, out));
      }
      return true;
    case State::Header:
      return read_header(out);
    case State::Samples:
      return read_samples(out);
    case State::Rest:
      break;
  }
  held_.clear();
  return false;
}

Status SpeechBytes::begin() {
  const std::string_view signature(reinterpret_cast<const char*>(held_.data()), kSignature);
  if (signature == "RIFF" || signature == "RF64" || signature == "BW64") {
    state_ = State::Header;
    return {};
  }
  if (given_ > 0) {
    state_ = State::Rest;  // what stands behind the samples of a WAV
    return {};
  }
  if (const std::string_view other = other_format(signature); !other.empty()) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("wanted sound as pcm or wav, found {}", other));
  }
  header_ = {.rate_hz = plain_rate_hz_,
             .channels = 1,
             .encoding = "s16le",
             .frame_bytes = 2,
             .header_bytes = 0,
             .sample_bytes = std::nullopt};
  state_ = State::Samples;
  return {};
}

Result<bool> SpeechBytes::read_header(std::vector<float>& out) {
  const WavProbe probe = probe_wav(held_);
  if (probe.state == WavProbe::State::MoreBytes) {
    return false;
  }
  if (probe.state == WavProbe::State::Other) {
    return fail(ErrorCode::InvalidInput,
                "wanted a WAV of plain samples, found a compressed or damaged one");
  }
  MYNAH_TRY_STATUS(begin_samples(probe.header, out));
  held_.erase(held_.begin(), held_.begin() + static_cast<ptrdiff_t>(header_.header_bytes));
  state_ = State::Samples;
  return true;
}

Status SpeechBytes::begin_samples(const WavHeader& header, std::vector<float>& out) {
  const bool is_known =
      std::ranges::find(kEncodings, header.encoding, &Encoding::name) != kEncodings.end();
  if (!is_known || header.rate_hz < kLeastRate_hz || header.rate_hz > kMostRate_hz) {
    return fail(ErrorCode::InvalidInput, fmt::format("wanted samples of 16 bits, found {} at {} Hz",
                                                     header.encoding, header.rate_hz));
  }
  header_ = header;
  left_ = header.sample_bytes;
  if (header.rate_hz != rate_hz_) {
    MYNAH_TRY_STATUS(end_rate(out));
    rate_hz_ = header.rate_hz;
    if (rate_hz_ != out_hz_) {
      MYNAH_TRY(resampler_, Resampler::create(rate_hz_, out_hz_));
    }
  }
  return {};
}

Result<bool> SpeechBytes::read_samples(std::vector<float>& out) {
  const auto* const encoding = std::ranges::find(kEncodings, header_.encoding, &Encoding::name);
  const auto frame = static_cast<size_t>(header_.frame_bytes);
  const auto channels = static_cast<size_t>(header_.channels);
  const size_t here =
      left_ ? static_cast<size_t>(std::min<int64_t>(*left_, std::ssize(held_))) : held_.size();
  const size_t frames = here / frame;
  std::vector<float> samples(frames);
  for (size_t i = 0; i < frames; ++i) {
    float sum = 0;
    for (size_t channel = 0; channel < channels; ++channel) {
      sum += encoding->decode(held_.data() + i * frame + channel * encoding->bytes);
    }
    samples[i] = sum / static_cast<float>(channels);
  }
  held_.erase(held_.begin(), held_.begin() + static_cast<ptrdiff_t>(frames * frame));
  MYNAH_TRY_STATUS(give(samples, out));
  if (!left_) {
    return false;
  }
  *left_ -= static_cast<int64_t>(frames * frame);
  if (*left_ >= static_cast<int64_t>(frame)) {
    return false;
  }
  state_ = State::Begin;  // of what may stand behind it
  return !held_.empty();
}

Status SpeechBytes::give(std::span<const float> samples, std::vector<float>& out) {
  given_ += samples.size();
  if (resampler_) {
    return resampler_->push(samples, out);
  }
  out.insert(out.end(), samples.begin(), samples.end());
  return {};
}

Status SpeechBytes::end_rate(std::vector<float>& out) {
  if (resampler_) {
    MYNAH_TRY_STATUS(resampler_->finish(out));
    resampler_.reset();
  }
  return {};
}

Status SpeechBytes::finish(std::vector<float>& out) {
  if (state_ == State::Header) {
    return fail(ErrorCode::InvalidInput, "wanted sound, found a WAV that ends in its header");
  }
  if (given_ == 0) {
    return fail(ErrorCode::InvalidInput, "wanted sound, found none");
  }
  return end_rate(out);
}

}  // namespace mynah::talk
