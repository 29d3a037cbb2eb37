#include "audio/iff_length.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>

#include <unistd.h>

namespace mynah {
namespace {

constexpr int64_t kFileHeaderBytes = 12;  // id, size, form
constexpr int64_t kChunkHeaderBytes = 8;  // id, size
// Writers to a pipe leave 0x7FFFxxxx (SoX) or 0xFFFFFFFF (FFmpeg): no file of that length is meant.
constexpr int64_t kLeastUnknown = 0x7FFF0000;

struct Chunk {
  std::array<char, 4> id{};
  uint32_t size = 0;

  [[nodiscard]] bool is(std::string_view name) const {
    return std::string_view(id.data(), id.size()) == name;
  }
};

std::optional<Chunk> read_chunk(int fd, int64_t at, bool big_endian) {
  std::array<char, kChunkHeaderBytes> bytes{};
  if (::pread(fd, bytes.data(), bytes.size(), at) != kChunkHeaderBytes) {
    return std::nullopt;
  }
  Chunk chunk;
  std::memcpy(chunk.id.data(), bytes.data(), 4);
  std::memcpy(&chunk.size, bytes.data() + 4, 4);
  if (big_endian == (std::endian::native == std::endian::little)) {
    chunk.size = __builtin_bswap32(chunk.size);
  }
  return chunk;
}

}  // namespace

std::optional<SampleBytes> find_sample_bytes(int fd, int64_t size_bytes) {
  const auto file = read_chunk(fd, 0, false);
  if (!file || !(file->is("RIFF") || file->is("RIFX") || file->is("FORM"))) {
    return std::nullopt;
  }
  const bool big_endian = !file->is("RIFF");
  const std::string_view samples = file->is("FORM") ? "SSND" : "data";
  int64_t at = kFileHeaderBytes;
  while (const auto chunk = read_chunk(fd, at, big_endian)) {
    at += kChunkHeaderBytes;
    if (chunk->is(samples)) {
      if (chunk->size == 0 || chunk->size >= kLeastUnknown) {
        return std::nullopt;
      }
      return SampleBytes{.promised = chunk->size,
                         .present = std::clamp<int64_t>(size_bytes - at, 0, chunk->size)};
    }
    at += chunk->size + (chunk->size & 1U);  // chunks start at even offsets
  }
  return std::nullopt;
}

}  // namespace mynah
