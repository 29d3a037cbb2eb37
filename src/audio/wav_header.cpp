#include "audio/wav_header.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <string_view>

namespace mynah {
namespace {

static_assert(std::endian::native == std::endian::little, "fields are read as stored");

using std::string_view_literals::operator""sv;

// Writers to a pipe leave 0x7FFFxxxx (SoX), 0x80000000 (arecord) or 0xFFFFFFFF (FFmpeg).
constexpr uint64_t kLeastUnknown = 0x7FFF0000;
constexpr size_t kFmtBytes = 16;
constexpr size_t kExtensibleFmtBytes = 40;
constexpr size_t kDs64Bytes = 16;  // as far as the number of sample bytes

// What follows the four letters of Wave64's identifiers, and the format tag of an extensible one.
constexpr std::string_view kRiffGuid = "\x2E\x91\xCF\x11\xA5\xD6\x28\xDB\x04\xC1\x00\x00"sv;
constexpr std::string_view kWaveGuid = "\xF3\xAC\xD3\x11\x8C\xD1\x00\xC0\x4F\x8E\xDB\x8A"sv;
constexpr std::string_view kSubformat =
    "\x00\x00\x00\x00\x10\x00\x80\x00\x00\xAA\x00\x38\x9B\x71"sv;

enum : uint16_t { kPcm = 1, kFloat = 3, kAlaw = 6, kMulaw = 7, kExtensible = 0xFFFE };

struct Encoding {
  uint16_t tag;
  uint16_t bits;
  std::string_view name;
};

constexpr std::array<Encoding, 8> kEncodings = {{{kPcm, 8, "u8"},
                                                 {kPcm, 16, "s16le"},
                                                 {kPcm, 24, "s24le"},
                                                 {kPcm, 32, "s32le"},
                                                 {kFloat, 32, "f32le"},
                                                 {kFloat, 64, "f64le"},
                                                 {kAlaw, 8, "alaw"},
                                                 {kMulaw, 8, "mulaw"}}};

// The bytes as text, and numbers out of them. Every access is checked by its caller.
class Bytes {
 public:
  explicit Bytes(std::span<const std::byte> bytes)
      : text_(reinterpret_cast<const char*>(bytes.data()), bytes.size()) {}

  [[nodiscard]] size_t size() const { return text_.size(); }

  [[nodiscard]] bool is(size_t at, std::string_view wanted) const {
    return text_.substr(at, wanted.size()) == wanted;
  }

  template <class T>
  [[nodiscard]] T number(size_t at) const {
    T value;
    std::memcpy(&value, text_.data() + at, sizeof value);
    return value;
  }

 private:
  std::string_view text_;
};

// How a kind of file frames its chunks.
struct Framing {
  size_t id_bytes;
  size_t size_bytes;
  size_t align;
  bool counts_itself;     // a size includes its chunk's header
  std::string_view guid;  // behind the four letters of an identifier
  size_t first_chunk;

  [[nodiscard]] size_t header_bytes() const { return id_bytes + size_bytes; }
};

constexpr Framing kRiff = {4, 4, 2, false, "", 12};
constexpr Framing kWave64 = {16, 8, 8, true, kWaveGuid, 40};

WavProbe more(size_t wanted) {
  if (wanted > kMostWavHeaderBytes) {
    return {};
  }
  return {.state = WavProbe::State::MoreBytes, .wanted_bytes = wanted};
}

// Walks from chunk to chunk until the samples begin.
class Walk {
 public:
  Walk(Bytes bytes, const Framing& framing) : bytes_(bytes), framing_(framing) {}

  WavProbe run() {
    size_t at = framing_.first_chunk;
    while (true) {
      const size_t body = at + framing_.header_bytes();
      if (body > bytes_.size()) {
        return more(body);
      }
      uint64_t size = framing_.size_bytes == 8 ? bytes_.number<uint64_t>(at + framing_.id_bytes)
                                               : bytes_.number<uint32_t>(at + framing_.id_bytes);
      if (framing_.counts_itself) {
        size -= std::min<uint64_t>(size, framing_.header_bytes());
      }
      if (is(at, "data")) {
        return found(body, size);
      }
      if (size > kMostWavHeaderBytes) {
        return {};  // samples of another name, or a picture: too long to keep
      }
      const size_t end = body + static_cast<size_t>(size);
      if (end > bytes_.size()) {
        return more(end);
      }
      if (is(at, "fmt ") && !read_format(body, end - body)) {
        return {};
      }
      if (is(at, "ds64") && end - body >= kDs64Bytes) {
        long_size_ = bytes_.number<uint64_t>(body + 8);
      }
      at = (end + framing_.align - 1) / framing_.align * framing_.align;
    }
  }

 private:
  [[nodiscard]] bool is(size_t at, std::string_view letters) const {
    return bytes_.is(at, letters) && bytes_.is(at + letters.size(), framing_.guid);
  }

  bool read_format(size_t at, size_t size) {
    if (size < kFmtBytes) {
      return false;
    }
    auto tag = bytes_.number<uint16_t>(at);
    const auto channels = bytes_.number<uint16_t>(at + 2);
    const auto rate_hz = bytes_.number<uint32_t>(at + 4);
    const auto frame_bytes = bytes_.number<uint16_t>(at + 12);
    const auto bits = bytes_.number<uint16_t>(at + 14);
    if (tag == kExtensible) {
      if (size < kExtensibleFmtBytes || !bytes_.is(at + 26, kSubformat)) {
        return false;
      }
      header_.channel_mask = bytes_.number<uint32_t>(at + 20);
      tag = bytes_.number<uint16_t>(at + 24);
    }
    const auto* encoding = std::ranges::find_if(
        kEncodings, [&](const Encoding& one) { return one.tag == tag && one.bits == bits; });
    if (encoding == kEncodings.end() || channels == 0 || frame_bytes != channels * bits / 8 ||
        rate_hz == 0 || rate_hz > static_cast<uint32_t>(std::numeric_limits<int>::max())) {
      return false;
    }
    header_.rate_hz = static_cast<int>(rate_hz);
    header_.channels = channels;
    header_.frame_bytes = frame_bytes;
    header_.encoding = encoding->name;
    return true;
  }

  WavProbe found(size_t body, uint64_t size) {
    if (header_.channels == 0) {
      return {};  // samples before their format
    }
    if (long_size_ && size >= std::numeric_limits<uint32_t>::max()) {
      size = *long_size_;
    }
    const bool is_long = long_size_ || framing_.size_bytes == 8;
    const uint64_t least_unknown =
        is_long ? uint64_t{std::numeric_limits<int64_t>::max()} : kLeastUnknown;
    header_.header_bytes = body;
    if (size != 0 && size < least_unknown) {
      header_.sample_bytes = static_cast<int64_t>(size);
    }
    return {.state = WavProbe::State::Found, .wanted_bytes = body, .header = header_};
  }

  Bytes bytes_;
  const Framing& framing_;
  WavHeader header_;
  std::optional<uint64_t> long_size_;  // of RF64's ds64 chunk
};

}  // namespace

WavProbe probe_wav(std::span<const std::byte> bytes) {
  const Bytes text(bytes.first(std::min(bytes.size(), kMostWavHeaderBytes)));
  if (text.size() < 4) {
    return more(4);
  }
  const bool wave64 = text.is(0, "riff");
  if (!wave64 && !text.is(0, "RIFF") && !text.is(0, "RF64") && !text.is(0, "BW64")) {
    return {};
  }
  const Framing& framing = wave64 ? kWave64 : kRiff;
  if (text.size() < framing.first_chunk) {
    return more(framing.first_chunk);
  }
  const bool is_wave = wave64
                           ? text.is(4, kRiffGuid) && text.is(24, "wave") && text.is(28, kWaveGuid)
                           : text.is(8, "WAVE");
  return is_wave ? Walk(text, framing).run() : WavProbe{};
}

}  // namespace mynah
