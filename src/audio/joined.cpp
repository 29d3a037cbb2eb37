#include "audio/joined.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include <unistd.h>

namespace mynah {
namespace {

using std::string_view_literals::operator""sv;

constexpr int64_t kFormBytes = 12;   // identifier, size, form
constexpr int64_t kHeaderBytes = 8;  // of a chunk
constexpr int64_t kMostHeader = 24;  // of a part of any format
constexpr int kMostChunks = 4096;    // behind the form: a file of zeros is not walked for ever
constexpr int kMostBoxes =
    1 << 20;  // of an MP4: one of twelve hours in pieces of a tenth of a second
// Writers to a pipe leave 0x7FFFxxxx (SoX), 0x80000000 (arecord) or 0xFFFFFFFF (FFmpeg).
constexpr uint32_t kLeastUnknown = 0x7FFF0000;
// A FLAC's signature and its first block, which is always one of 34 bytes (RFC 9639, 8.2).
constexpr std::string_view kFlac = "fLaC\x00\x00\x00\x22"sv;
constexpr std::string_view kLastFlac = "fLaC\x80\x00\x00\x22"sv;
// The identifiers of ASF's header and of its data ("Advanced Systems Format", 10.1).
constexpr std::string_view kAsf =
    "\x30\x26\xB2\x75\x8E\x66\xCF\x11\xA6\xD9\x00\xAA\x00\x62\xCE\x6C"sv;
constexpr std::string_view kAsfData =
    "\x36\x26\xB2\x75\x8E\x66\xCF\x11\xA6\xD9\x00\xAA\x00\x62\xCE\x6C"sv;
constexpr std::string_view kMatroska = "\x1A\x45\xDF\xA3"sv;

struct Header {
  std::array<char, kMostHeader> bytes{};
  int64_t got = 0;

  [[nodiscard]] std::string_view text() const { return {bytes.data(), static_cast<size_t>(got)}; }

  [[nodiscard]] std::string_view name(size_t at = 0) const {
    return text().substr(std::min<size_t>(at, static_cast<size_t>(got)), 4);
  }

  template <typename Number>
  [[nodiscard]] Number number(size_t at, bool big_endian) const {
    Number value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return big_endian == (std::endian::native == std::endian::little) ? std::byteswap(value)
                                                                      : value;
  }

  [[nodiscard]] uint32_t size(bool big_endian) const { return number<uint32_t>(4, big_endian); }
};

Header read_header(const ReadAt& read_at, int64_t at) {
  Header header;
  header.got =
      static_cast<int64_t>(read_at(at, std::as_writable_bytes(std::span<char>(header.bytes))));
  return header;
}

bool begins_form(const Header& header) {
  const std::string_view text = header.text();
  return text.size() >= kFormBytes &&
         (((text.starts_with("RIFF") || text.starts_with("RF64") || text.starts_with("BW64")) &&
           header.name(8) == "WAVE") ||
          (text.starts_with("FORM") && header.name(8).starts_with("AIF")));
}

bool begins_recording(const Header& header) {
  const std::string_view text = header.text();
  return begins_form(header) || text.starts_with(kFlac) || text.starts_with(kLastFlac) ||
         text.starts_with("OggS") || header.name(4) == "ftyp" || text.starts_with("caff") ||
         text.starts_with(".snd") || text.starts_with(kAsf) || text.starts_with(kMatroska);
}

bool is_name(std::string_view name) {
  return name.size() == 4 &&
         std::ranges::all_of(name, [](char letter) { return letter >= ' ' && letter <= '~'; });
}

bool is_chunk(const Header& header) {
  return header.got >= kHeaderBytes && is_name(header.name());
}

// Chunks of a form up to its samples, and those behind the form.
Behind look_behind_form(const ReadAt& read_at, int64_t size_bytes, int64_t from, bool big_endian) {
  Behind behind;
  bool samples_passed = false;
  int64_t at = from + kFormBytes;
  int64_t odd = 0;
  for (int i = 0; i < kMostChunks && at < size_bytes; ++i) {
    const Header header = read_header(read_at, at);
    // Some writers leave out the byte that makes a size even.
    for (const int64_t place : {at, at - odd}) {
      if (samples_passed && begins_recording(read_header(read_at, place))) {
        behind.next = place;
        return behind;
      }
    }
    if (!is_chunk(header)) {
      behind.unknown_bytes = samples_passed ? size_bytes - at : 0;
      return behind;
    }
    const uint32_t size = header.size(big_endian);
    const std::string_view name = header.name();
    const bool is_samples = name == "data" || name == "SSND";
    if (is_samples && (size == 0 || size >= kLeastUnknown)) {
      return behind;  // the writer did not know: all that follows is its own
    }
    samples_passed = samples_passed || is_samples;
    odd = size & 1U;
    at += kHeaderBytes + size + odd;
  }
  return behind;
}

// Where the bytes hold the beginning of a FLAC or a WAV; npos: nowhere.
size_t find_signature(std::string_view text) {
  size_t found = std::min(text.find(kFlac), text.find(kLastFlac));
  constexpr std::string_view kWave = "WAVEfmt ";
  constexpr size_t kWaveAt = 8;
  for (size_t at = text.find(kWave); at < found; at = text.find(kWave, at + 1)) {
    if (at >= kWaveAt && text.substr(at - kWaveAt).starts_with("RIFF")) {
      found = at - kWaveAt;
    }
  }
  return found;
}

Behind look_behind_flac(const ReadAt& read_at, int64_t size_bytes, int64_t from) {
  constexpr int64_t kOverlap = 16;  // of two blocks: as long as the longest signature
  std::vector<char> block(1 << 20);
  int64_t at = from + 4;
  while (at < size_bytes) {
    const auto got =
        static_cast<int64_t>(read_at(at, std::as_writable_bytes(std::span<char>(block))));
    if (got <= kOverlap) {
      break;
    }
    const size_t found = find_signature({block.data(), static_cast<size_t>(got)});
    if (found != std::string_view::npos) {
      return {.next = at + static_cast<int64_t>(found)};
    }
    at += got - kOverlap;
  }
  return {};
}

// A part of a file: how long it is, header included, and what it is.
struct Part {
  int64_t bytes = 0;  // less than its header: not known, or no part
  bool samples = false;
  bool index = false;  // what the samples cannot be read without
};

// ISO/IEC 14496-12, 4.2. A size of 0 is a box up to the end.
Part mp4_box(const Header& header) {
  constexpr int64_t kLongHeader = 16;
  if (!is_name(header.name(4))) {
    return {};
  }
  int64_t bytes = header.number<uint32_t>(0, true);
  if (bytes == 1) {
    bytes = header.got >= kLongHeader ? header.number<int64_t>(8, true) : 0;
    bytes = bytes < kLongHeader ? 0 : bytes;
  }
  const std::string_view name = header.name(4);
  return {.bytes = bytes, .samples = name == "mdat" || name == "moof", .index = name == "moov"};
}

// Apple's Core Audio Format: a chunk's size does not count its header of 12 bytes.
Part caf_chunk(const Header& header) {
  const auto bytes = header.got >= kFormBytes ? header.number<int64_t>(4, true) : -1;
  const bool right = is_name(header.name()) && bytes >= 0 &&
                     bytes < std::numeric_limits<int64_t>::max() - kFormBytes;
  return {.bytes = right ? bytes + kFormBytes : 0,
          .samples = header.name() == "data",
          .index = header.name() == "desc"};
}

Part asf_object(const Header& header) {
  if (header.got < kMostHeader) {
    return {};
  }
  return {.bytes = header.number<int64_t>(16, false),
          .samples = header.text().starts_with(kAsfData),
          .index = header.text().starts_with(kAsf)};
}

// Parts up to another recording; `first` is where they begin.
Behind look_behind_parts(const ReadAt& read_at, int64_t size_bytes, int64_t first,
                         Part (*part_of)(const Header&)) {
  bool samples = false;
  bool index = false;
  int64_t at = first;
  for (int i = 0; i < kMostBoxes && at < size_bytes; ++i) {
    const Header header = read_header(read_at, at);
    if (samples && index && begins_recording(header)) {
      return {.next = at};
    }
    const Part part = part_of(header);
    if (part.bytes < kHeaderBytes) {
      return {.next = std::nullopt,
              .unknown_bytes = samples && index && part.bytes == 0 && !is_name(header.name(4))
                                   ? size_bytes - at
                                   : 0};
    }
    samples = samples || part.samples;
    index = index || part.index;
    if (part.bytes > size_bytes - at) {
      break;  // it is cut off
    }
    at += part.bytes;
  }
  return {};
}

Behind look_behind_au(const ReadAt& read_at, int64_t size_bytes, int64_t from) {
  const Header header = read_header(read_at, from);
  const int64_t bytes =
      header.number<uint32_t>(4, true) + int64_t{header.number<uint32_t>(8, true)};
  const bool known = header.got >= kFormBytes && header.number<uint32_t>(8, true) < kLeastUnknown &&
                     bytes > kFormBytes && bytes < size_bytes - from;
  return known && begins_recording(read_header(read_at, from + bytes))
             ? Behind{.next = from + bytes}
             : Behind();
}

// What an MP4 or a QuickTime file begins with.
bool begins_mp4(const Header& header) {
  constexpr std::array<std::string_view, 6> kTypes = {"ftyp", "moov", "mdat",
                                                      "wide", "free", "skip"};
  return std::ranges::find(kTypes, header.name(4)) != kTypes.end();
}

}  // namespace

Behind look_behind(const ReadAt& read_at, int64_t size_bytes, int64_t from) {
  const Header header = read_header(read_at, from);
  const std::string_view text = header.text();
  if (begins_form(header)) {
    return look_behind_form(read_at, size_bytes, from, text.starts_with("FORM"));
  }
  if (text.starts_with("fLaC")) {
    return look_behind_flac(read_at, size_bytes, from);
  }
  if (text.starts_with("caff")) {
    return look_behind_parts(read_at, size_bytes, from + kHeaderBytes, caf_chunk);
  }
  if (text.starts_with(kAsf)) {
    return look_behind_parts(read_at, size_bytes, from, asf_object);
  }
  if (text.starts_with(".snd")) {
    return look_behind_au(read_at, size_bytes, from);
  }
  return begins_mp4(header) ? look_behind_parts(read_at, size_bytes, from, mp4_box) : Behind();
}

bool lacks_index(const ReadAt& read_at, int64_t size_bytes, int64_t& samples_bytes) {
  samples_bytes = 0;
  if (!begins_mp4(read_header(read_at, 0))) {
    return false;
  }
  int64_t at = 0;
  for (int i = 0; i < kMostBoxes && at < size_bytes; ++i) {
    const Part box = mp4_box(read_header(read_at, at));
    const int64_t left = size_bytes - at;
    // A size of 0, and one that the file does not have, are of what was still being written.
    const int64_t bytes = box.bytes == 0 ? left : std::min(box.bytes, left);
    if (box.index || bytes < kHeaderBytes) {
      return false;
    }
    samples_bytes += box.samples ? bytes : 0;
    at += bytes;
  }
  return samples_bytes > 0;
}

ReadAt read_at_of(int fd) {
  return [fd](int64_t offset, std::span<std::byte> out) {
    const ssize_t got = ::pread(fd, out.data(), out.size(), offset);
    return got > 0 ? static_cast<size_t>(got) : size_t{0};
  };
}

}  // namespace mynah
