#include "audio/joined.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>
#include <vector>

#include <unistd.h>

namespace mynah {
namespace {

using std::string_view_literals::operator""sv;

constexpr int64_t kFormBytes = 12;   // identifier, size, form
constexpr int64_t kHeaderBytes = 8;  // of a chunk
constexpr int kMostChunks = 4096;    // behind the form: a file of zeros is not walked for ever
// Writers to a pipe leave 0x7FFFxxxx (SoX), 0x80000000 (arecord) or 0xFFFFFFFF (FFmpeg).
constexpr uint32_t kLeastUnknown = 0x7FFF0000;
// A FLAC's signature and its first block, which is always one of 34 bytes (RFC 9639, 8.2).
constexpr std::string_view kFlac = "fLaC\x00\x00\x00\x22"sv;
constexpr std::string_view kLastFlac = "fLaC\x80\x00\x00\x22"sv;

struct Header {
  std::array<char, kFormBytes> bytes{};
  int64_t got = 0;

  [[nodiscard]] std::string_view text() const { return {bytes.data(), static_cast<size_t>(got)}; }

  [[nodiscard]] uint32_t size(bool big_endian) const {
    uint32_t value = 0;
    std::memcpy(&value, bytes.data() + 4, sizeof value);
    return big_endian == (std::endian::native == std::endian::little) ? __builtin_bswap32(value)
                                                                      : value;
  }
};

Header read_header(int fd, int64_t at) {
  Header header;
  header.got = std::max<int64_t>(0, ::pread(fd, header.bytes.data(), header.bytes.size(), at));
  return header;
}

bool begins_form(const Header& header) {
  const std::string_view text = header.text();
  return text.size() == kFormBytes &&
         (((text.starts_with("RIFF") || text.starts_with("RF64") || text.starts_with("BW64")) &&
           text.substr(8) == "WAVE") ||
          (text.starts_with("FORM") && text.substr(8).starts_with("AIF")));
}

bool begins_recording(const Header& header) {
  const std::string_view text = header.text();
  return begins_form(header) || text.starts_with(kFlac) || text.starts_with(kLastFlac) ||
         text.starts_with("OggS");
}

bool is_chunk(const Header& header) {
  return header.got >= kHeaderBytes &&
         std::ranges::all_of(header.text().substr(0, 4),
                             [](char letter) { return letter >= ' ' && letter <= '~'; });
}

// Chunks of a form up to its samples, and those behind the form.
Behind look_behind_form(int fd, int64_t size_bytes, int64_t from, bool big_endian) {
  Behind behind;
  bool samples_passed = false;
  int64_t at = from + kFormBytes;
  int64_t odd = 0;
  for (int i = 0; i < kMostChunks && at < size_bytes; ++i) {
    const Header header = read_header(fd, at);
    // Some writers leave out the byte that makes a size even.
    for (const int64_t place : {at, at - odd}) {
      if (samples_passed && begins_recording(read_header(fd, place))) {
        behind.next = place;
        return behind;
      }
    }
    if (!is_chunk(header)) {
      behind.unknown_bytes = samples_passed ? size_bytes - at : 0;
      return behind;
    }
    const uint32_t size = header.size(big_endian);
    const std::string_view name = header.text().substr(0, 4);
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

Behind look_behind_flac(int fd, int64_t size_bytes, int64_t from) {
  constexpr int64_t kOverlap = 16;  // of two blocks: as long as the longest signature
  std::vector<char> block(1 << 20);
  int64_t at = from + 4;
  while (at < size_bytes) {
    const ssize_t got = ::pread(fd, block.data(), block.size(), at);
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

}  // namespace

Behind look_behind(int fd, int64_t size_bytes, int64_t from) {
  const Header header = read_header(fd, from);
  if (begins_form(header)) {
    return look_behind_form(fd, size_bytes, from, header.text().starts_with("FORM"));
  }
  return header.text().starts_with("fLaC") ? look_behind_flac(fd, size_bytes, from) : Behind();
}

}  // namespace mynah
