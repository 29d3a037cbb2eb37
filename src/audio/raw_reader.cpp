#include "audio/raw_reader.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "audio/g711.h"
#include "audio/wav_header.h"
#include "base/ascii.h"
#include "base/process.h"

namespace mynah {
namespace {

static_assert(std::endian::native == std::endian::little, "raw samples are read as stored");

constexpr int kMostChannels = 1024;

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

float from_u8(const std::byte* at) {
  return (static_cast<float>(load<uint8_t>(at)) - 128.0F) / 128.0F;
}

float from_s16(const std::byte* at) {
  return static_cast<float>(load<int16_t>(at)) / 32768.0F;
}

float from_s24(const std::byte* at) {
  const uint32_t bits = load<uint8_t>(at) << 8U | load<uint8_t>(at + 1) << 16U |
                        static_cast<uint32_t>(load<uint8_t>(at + 2)) << 24U;
  return static_cast<float>(static_cast<int32_t>(bits) >> 8) / 8388608.0F;
}

float from_s32(const std::byte* at) {
  return static_cast<float>(load<int32_t>(at)) / 2147483648.0F;
}

float from_f32(const std::byte* at) {
  return load<float>(at);
}

float from_f64(const std::byte* at) {
  return static_cast<float>(load<double>(at));
}

float from_mulaw(const std::byte* at) {
  return static_cast<float>(mulaw_to_s16(load<uint8_t>(at))) / 32768.0F;
}

float from_alaw(const std::byte* at) {
  return static_cast<float>(alaw_to_s16(load<uint8_t>(at))) / 32768.0F;
}

struct Encoding {
  std::string_view name;
  size_t bytes;
  float (*decode)(const std::byte*);
};

constexpr std::array<Encoding, 8> kEncodings = {{{"u8", 1, from_u8},
                                                 {"s16le", 2, from_s16},
                                                 {"s24le", 3, from_s24},
                                                 {"s32le", 4, from_s32},
                                                 {"f32le", 4, from_f32},
                                                 {"f64le", 8, from_f64},
                                                 {"mulaw", 1, from_mulaw},
                                                 {"alaw", 1, from_alaw}}};

class RawReader final : public FrameReader {
 public:
  RawReader(InputFile input, const AudioOpenOptions::Raw& raw, const Encoding& encoding,
            std::optional<int64_t> sample_bytes)
      : input_(std::move(input)),
        rate_hz_(raw.rate_hz),
        channels_(raw.channels),
        encoding_(encoding),
        speakers_(speakers_of_mask(raw.channel_mask, raw.channels)),
        frame_bytes_(encoding.bytes * static_cast<size_t>(raw.channels)),
        promised_(sample_bytes) {}

  [[nodiscard]] int rate_hz() const override { return rate_hz_; }

  [[nodiscard]] int channels() const override { return channels_; }

  [[nodiscard]] std::span<const Speaker> speakers() const override { return speakers_; }

  [[nodiscard]] std::optional<int64_t> frames() const override {
    if (promised_) {
      return *promised_ / static_cast<int64_t>(frame_bytes_);
    }
    if (!input_.seekable) {
      return std::nullopt;
    }
    return input_.size_bytes / static_cast<int64_t>(frame_bytes_);
  }

  Result<size_t> read(std::span<float> out) override {
    bytes_.resize(out.size() / static_cast<size_t>(channels_) * frame_bytes_);
    while (held_ < frame_bytes_) {
      MYNAH_TRY(const size_t got, read_some(input_, room()));
      if (got == 0) {
        return at_end();
      }
      held_ += got;
      taken_ += static_cast<int64_t>(got);
    }
    const size_t frames = held_ / frame_bytes_;
    const size_t samples = frames * static_cast<size_t>(channels_);
    for (size_t i = 0; i < samples; ++i) {
      out[i] = encoding_.decode(bytes_.data() + i * encoding_.bytes);
    }
    const size_t used = frames * frame_bytes_;
    std::copy(bytes_.begin() + static_cast<std::ptrdiff_t>(used),
              bytes_.begin() + static_cast<std::ptrdiff_t>(held_), bytes_.begin());
    held_ -= used;
    return frames;
  }

  Result<bool> next() override;

  // Takes what is to be known of the recording.
  void tell(std::function<void(const std::string&)> note) { note_ = std::move(note); }

  Result<int64_t> skip(int64_t count) override {
    if (count > std::numeric_limits<int64_t>::max() / static_cast<int64_t>(frame_bytes_)) {
      return fail(ErrorCode::InvalidInput, input_.name + ": the start is out of range");
    }
    if (input_.seekable) {
      const int64_t at = ::lseek(input_.fd.get(), 0, SEEK_CUR);
      const auto frame_bytes = static_cast<int64_t>(frame_bytes_);
      const int64_t there = std::clamp<int64_t>((input_.size_bytes - at) / frame_bytes, 0, count);
      if (at >= 0 && ::lseek(input_.fd.get(), there * frame_bytes, SEEK_CUR) >= 0) {
        taken_ += there * frame_bytes;
        return there;
      }
    }
    return skip_by_reading(*this, count);
  }

 private:
  // Where the next bytes go: none is left once the promised ones are there.
  [[nodiscard]] std::span<std::byte> room() {
    const auto free = std::span(bytes_).subspan(held_);
    if (!promised_) {
      return free;
    }
    const auto left = static_cast<uint64_t>(*promised_ - taken_);
    return free.first(static_cast<size_t>(std::min<uint64_t>(free.size(), left)));
  }

  Result<size_t> at_end() {
    if (promised_ && taken_ < *promised_) {
      const auto frames = taken_ / static_cast<int64_t>(frame_bytes_);
      return fail(
          ErrorCode::InvalidInput,
          fmt::format("{} is cut off after {:.3f} s: its header promises {} bytes of "
                      "samples, {} are there",
                      input_.name, static_cast<double>(frames) / rate_hz_, *promised_, taken_));
    }
    if (held_ == 0) {
      return 0;
    }
    return fail(ErrorCode::InvalidInput,
                fmt::format("{} is cut off: it ends with {} of a frame's {} bytes", input_.name,
                            held_, frame_bytes_));
  }

  InputFile input_;
  int rate_hz_;
  int channels_;
  Encoding encoding_;
  std::vector<Speaker> speakers_;
  size_t frame_bytes_;
  std::vector<std::byte> bytes_;
  size_t held_ = 0;    // bytes of an unfinished frame, at the front of bytes_
  int64_t taken_ = 0;  // bytes read
  std::optional<int64_t> promised_;
  std::function<void(const std::string&)> note_;
};

AudioOpenOptions::Raw as_raw(const WavHeader& header) {
  return {.rate_hz = header.rate_hz,
          .channels = header.channels,
          .encoding = header.encoding,
          .channel_mask = header.channel_mask};
}

// Whether bytes come within the time that a writer takes to go on to its next file. Nothing may
// follow, and the pipe stay open.
Result<bool> comes_soon(InputFile& input) {
  constexpr std::chrono::milliseconds kSoon{500};
  return input.head.empty() ? wait_readable(input.fd.get(), kSoon, input.stop) : true;
}

// Reads so many bytes of what still comes; false where fewer do.
Result<bool> take(InputFile& input, std::span<std::byte> out) {
  while (!out.empty()) {
    MYNAH_TRY(const bool soon, comes_soon(input));
    if (!soon) {
      return false;
    }
    MYNAH_TRY(const size_t got, read_some(input, out));
    if (got == 0) {
      return false;
    }
    out = out.subspan(got);
  }
  return true;
}

// Behind the samples of a WAV that comes through a pipe: its other chunks, then perhaps another
// WAV.
// Whether what follows a WAV's samples is a chunk of it and not the beginning of something else.
bool is_chunk_name(std::string_view name) {
  constexpr std::array<std::string_view, 5> kRecordings = {"fLaC", "OggS", "FORM", "caff", ".snd"};
  return std::ranges::find(kRecordings, name) == kRecordings.end() &&
         std::ranges::all_of(name, [](char c) { return c >= ' ' && c <= '~'; });
}

Result<bool> RawReader::next() {
  if (input_.seekable || !promised_) {
    return false;
  }
  std::vector<std::byte> passed(static_cast<size_t>(*promised_ & 1));
  for (;;) {
    std::array<std::byte, 8> header{};
    MYNAH_TRY(const bool went_on, take(input_, passed));
    if (!went_on) {
      return false;
    }
    MYNAH_TRY(const bool follows, take(input_, header));
    if (!follows) {
      return false;
    }
    const std::string_view name(reinterpret_cast<const char*>(header.data()), 4);
    const auto size = load<uint32_t>(header.data() + 4);
    if (name == "RIFF" || name == "RF64" || name == "BW64" || name == "riff") {
      input_.head.insert(input_.head.begin(), header.begin(), header.end());
      MYNAH_TRY(const auto reader, open_wav_stream(input_, {}));
      if (reader == nullptr) {
        return false;
      }
      auto note = std::move(note_);
      *this = std::move(static_cast<RawReader&>(*reader));
      note_ = std::move(note);
      return true;
    }
    if (size > kMostWavHeaderBytes) {
      if (note_ && !is_chunk_name(name)) {
        note_("is followed by more, which is not heard through a pipe: give it as a file");
      }
      return false;
    }
    passed.resize(size + (size & 1U));
  }
}

}  // namespace

Result<std::unique_ptr<FrameReader>> open_raw(InputFile input, const AudioOpenOptions::Raw& raw,
                                              std::optional<int64_t> sample_bytes) {
  const auto* encoding = std::ranges::find(kEncodings, raw.encoding, &Encoding::name);
  if (encoding == kEncodings.end()) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("unknown raw encoding '{}': wanted u8, s16le, s24le, s32le, f32le, "
                            "f64le, mulaw or alaw",
                            raw.encoding));
  }
  if (raw.channels < 1 || raw.channels > kMostChannels) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("wanted 1 to {} raw channels, found {}", kMostChannels, raw.channels));
  }
  return std::make_unique<RawReader>(std::move(input), raw, *encoding, sample_bytes);
}

Result<std::unique_ptr<FrameReader>> open_wav_stream(InputFile& input,
                                                     std::function<void(const std::string&)> note) {
  std::vector<std::byte> head;
  WavProbe probe = probe_wav(head);
  while (probe.state == WavProbe::State::MoreBytes) {
    // Reads no further than is needed: what follows may not have been said yet.
    const size_t had = head.size();
    head.resize(probe.wanted_bytes);
    MYNAH_TRY(const size_t got, read_some(input, std::span(head).subspan(had)));
    head.resize(had + got);
    if (got == 0) {
      break;
    }
    probe = probe_wav(head);
  }
  input.head.insert(input.head.begin(), head.begin(), head.end());
  if (probe.state != WavProbe::State::Found) {
    return nullptr;
  }
  const WavHeader& header = probe.header;
  input.head.erase(input.head.begin(),
                   input.head.begin() + static_cast<std::ptrdiff_t>(header.header_bytes));
  MYNAH_TRY(auto reader, open_raw(std::move(input), as_raw(header), header.sample_bytes));
  static_cast<RawReader&>(*reader).tell(std::move(note));
  return reader;
}

namespace {

// Whether a chunk begins there, such as "LIST" and a size that the file may have.
bool has_chunks(std::span<const std::byte> bytes, size_t at) {
  constexpr size_t kChunkHeader = 8;
  constexpr uint32_t kMostBytes = 1 << 24;  // of tags, with a picture
  if (bytes.size() < at + kChunkHeader) {
    return false;
  }
  const auto is_letter = [](std::byte byte) {
    const auto letter = static_cast<char>(byte);
    return is_ascii_alnum(letter) || letter == ' ' || letter == '_';
  };
  return std::ranges::all_of(bytes.subspan(at, 4), is_letter) &&
         load<uint32_t>(bytes.data() + at + 4) <= kMostBytes;
}

}  // namespace

Result<std::unique_ptr<FrameReader>> open_unfinished_wav(InputFile& input) {
  std::vector<std::byte> head(kMostWavHeaderBytes);
  const ssize_t got = ::pread(input.fd.get(), head.data(), head.size(), 0);
  head.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  const WavProbe probe = probe_wav(head);
  const WavHeader& header = probe.header;
  if (probe.state == WavProbe::State::Found && header.sample_bytes.value_or(0) > 0 &&
      input.size_bytes <= static_cast<int64_t>(header.header_bytes)) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{} is cut off behind its header, which promises {} bytes of samples",
                            input.name, *header.sample_bytes));
  }
  if (probe.state != WavProbe::State::Found || header.sample_bytes) {
    return nullptr;
  }
  // Where the size of the file is right there may be no samples, but tags.
  const int64_t told = int64_t{load<uint32_t>(head.data() + 4)} + 8;
  const int64_t frame_bytes = header.frame_bytes;
  const int64_t there =
      (input.size_bytes - static_cast<int64_t>(header.header_bytes)) / frame_bytes * frame_bytes;
  if ((told == input.size_bytes && has_chunks(head, header.header_bytes)) || there <= 0 ||
      ::lseek(input.fd.get(), static_cast<int64_t>(header.header_bytes), SEEK_SET) < 0) {
    return nullptr;
  }
  return open_raw(std::move(input), as_raw(header), there);
}

}  // namespace mynah
