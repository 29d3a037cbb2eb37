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

#include "audio/signatures.h"

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
// The identifier of ASF's data ("Advanced Systems Format", 10.1).
constexpr std::string_view kAsfData =
    "\x36\x26\xB2\x75\x8E\x66\xCF\x11\xA6\xD9\x00\xAA\x00\x62\xCE\x6C"sv;
// Formats that say nothing of their length are searched up to here: more is a film, read twice.
constexpr int64_t kMostSearched = int64_t{1} << 30;

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

bool is_avi(const Header& header) {
  return header.text().starts_with("RIFF") && header.name(8) == "AVI ";
}

bool begins_recording(const Header& header) {
  const std::string_view text = header.text();
  return begins_form(header) || text.starts_with(kFlacBegin) || text.starts_with(kLastFlacBegin) ||
         text.starts_with("OggS") || header.name(4) == "ftyp" || text.starts_with("caff") ||
         text.starts_with(".snd") || text.starts_with(kAsfBegin) ||
         text.starts_with(kMatroskaBegin) || is_avi(header);
}

bool is_chunk(const Header& header) {
  return header.got >= kHeaderBytes && is_chunk_name(header.name());
}

// Chunks of a form up to its samples, and those behind the form.
Behind look_behind_form(const ReadAt& read_at, int64_t size_bytes, int64_t from, bool big_endian) {
  Behind behind;
  bool samples_passed = false;
  // Of the samples of an RF64 (EBU Tech 3306), whose own size then is kInLongSizes.
  int64_t long_bytes = 0;
  constexpr int64_t kInLongSizes = 0xFFFFFFFF;
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
    const std::string_view name = header.name();
    const bool is_samples = name == "data" || name == "SSND";
    int64_t size = header.size(big_endian);
    if (name == "ds64" && header.got == kMostHeader) {
      long_bytes = header.number<int64_t>(16, false);
    } else if (is_samples && size == kInLongSizes && long_bytes > 0 &&
               long_bytes < size_bytes - at) {
      size = long_bytes;
    } else if (is_samples && (size == 0 || size >= kLeastUnknown)) {
      return behind;  // the writer did not know: all that follows is its own
    }
    samples_passed = samples_passed || is_samples;
    odd = size & 1;
    at += kHeaderBytes + size + odd;
  }
  return behind;
}

// Searches for what a recording begins with, where nothing says how long the one before is.
Behind search_behind(const ReadAt& read_at, int64_t size_bytes, int64_t first, bool mpeg) {
  std::vector<char> block(1 << 20);
  int64_t at = first;
  while (at < size_bytes) {
    const auto got =
        static_cast<int64_t>(read_at(at, std::as_writable_bytes(std::span<char>(block))));
    if (got <= kSignatureBytes) {
      break;
    }
    const size_t found = find_signature({block.data(), static_cast<size_t>(got)}, mpeg);
    if (found != std::string_view::npos) {
      return {.next = at + static_cast<int64_t>(found)};
    }
    at += got - kSignatureBytes;
  }
  return {};
}

// Behind an ID3v2 tag, which may hold anything: a picture, a recording. Its size has seven bits a
// byte.
int64_t behind_tag(const Header& header, int64_t from) {
  constexpr int64_t kTagHeader = 10;
  if (!header.text().starts_with("ID3") || header.got < kTagHeader) {
    return from;
  }
  int64_t bytes = 0;
  for (const char byte : header.text().substr(6, 4)) {
    bytes = bytes * 128 + (static_cast<unsigned char>(byte) & 0x7FU);
  }
  return from + kTagHeader + bytes;
}

// RFC 3533, 6: pages of a header of 27 bytes, a table of lengths, and as much as those add up to.
Behind look_behind_ogg(const ReadAt& read_at, int64_t size_bytes, int64_t from) {
  constexpr size_t kPageHeader = 27;
  std::array<unsigned char, kPageHeader + 255> page{};
  int64_t at = from;
  while (at < size_bytes) {
    const auto bytes = std::as_writable_bytes(std::span(page));
    const size_t got = read_at(at, bytes);
    const size_t lengths = got >= kPageHeader ? page[kPageHeader - 1] : 0;
    if (got < kPageHeader || std::memcmp(page.data(), "OggS", 4) != 0) {
      return begins_recording(read_header(read_at, at)) ? Behind{.next = at} : Behind();
    }
    if (got < kPageHeader + lengths) {
      break;
    }
    at += static_cast<int64_t>(kPageHeader + lengths);
    for (size_t i = 0; i < lengths; ++i) {
      at += page[kPageHeader + i];
    }
  }
  return {};
}

// RFC 8794, 5: a number of as many bytes as its first one has zeros before a one, and that one;
// nothing where it has more than eight, or only ones, which is a size that is not known.
std::optional<int64_t> ebml_number(std::string_view text, size_t& at) {
  const auto first = at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
  const auto length = static_cast<size_t>(std::countl_zero(static_cast<unsigned char>(first))) + 1;
  if (first == 0 || length > text.size() - at) {
    return std::nullopt;
  }
  int64_t value = first & ((1U << (8 - length)) - 1);
  for (size_t i = 1; i < length; ++i) {
    value = value * 256 + static_cast<unsigned char>(text[at + i]);
  }
  at += length;
  const bool known = value != (int64_t{1} << (7 * length)) - 1;
  return known ? std::optional(value) : std::nullopt;
}

// The header and the segment (RFC 9559, 4.5), whose sizes are told where the writer could go back.
Behind look_behind_matroska(const ReadAt& read_at, int64_t size_bytes, int64_t from) {
  constexpr std::string_view kSegment = "\x18\x53\x80\x67"sv;
  int64_t at = from;
  bool segment = false;
  while (at < size_bytes) {
    const Header header = read_header(read_at, at);
    const std::string_view text = header.text();
    if (segment && begins_recording(header)) {
      return {.next = at};
    }
    const bool element = text.starts_with(kMatroskaBegin) || text.starts_with(kSegment) ||
                         text.starts_with("\xEC");  // a void
    size_t behind = text.starts_with("\xEC") ? 1 : 4;
    const auto bytes = element ? ebml_number(text, behind) : std::nullopt;
    if (!bytes || *bytes > size_bytes - at) {
      break;
    }
    segment = segment || text.starts_with(kSegment);
    at += static_cast<int64_t>(behind) + *bytes;
  }
  return {};
}

// An AVI has a RIFF, and more of the form AVIX where it is longer than a gigabyte (OpenDML).
Behind look_behind_avi(const ReadAt& read_at, int64_t size_bytes, int64_t from) {
  int64_t at = from;
  while (at < size_bytes) {
    const Header header = read_header(read_at, at);
    const bool its_own = header.text().starts_with("RIFF") && header.got >= kFormBytes &&
                         (header.name(8) == "AVIX" || (at == from && header.name(8) == "AVI "));
    if (!its_own) {
      return begins_recording(header) ? Behind{.next = at} : Behind();
    }
    const uint32_t size = header.size(false);
    if (size == 0 || size >= kLeastUnknown) {
      break;
    }
    at += kHeaderBytes + size + (size & 1U);
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
  if (!is_chunk_name(header.name(4))) {
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
  const bool right = is_chunk_name(header.name()) && bytes >= 0 &&
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
          .index = header.text().starts_with(kAsfBegin)};
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
              .unknown_bytes = samples && index && part.bytes == 0 && !is_chunk_name(header.name(4))
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
    return search_behind(read_at, size_bytes, from + 4, false);
  }
  if (text.starts_with("caff")) {
    return look_behind_parts(read_at, size_bytes, from + kHeaderBytes, caf_chunk);
  }
  if (text.starts_with(kAsfBegin)) {
    return look_behind_parts(read_at, size_bytes, from, asf_object);
  }
  if (text.starts_with(".snd")) {
    return look_behind_au(read_at, size_bytes, from);
  }
  if (text.starts_with("OggS")) {
    return look_behind_ogg(read_at, size_bytes, from);
  }
  if (text.starts_with(kMatroskaBegin)) {
    return look_behind_matroska(read_at, size_bytes, from);
  }
  if (is_avi(header)) {
    return look_behind_avi(read_at, size_bytes, from);
  }
  if (begins_mp4(header)) {
    return look_behind_parts(read_at, size_bytes, from, mp4_box);
  }
  if (size_bytes - from > kMostSearched) {
    return {};
  }
  const auto first = static_cast<unsigned char>(header.got > 0 ? text.front() : 0);
  constexpr unsigned char kSync = 0xFF;
  const bool mpeg = first == kSync || text.starts_with("ID3");
  return search_behind(read_at, size_bytes, behind_tag(header, from) + 4, mpeg);
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
