#include "media/avi_silences.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace mynah::media {
namespace {

constexpr size_t kEntryBytes = 16;        // identifier, flags, offset, length
constexpr size_t kBlockEntries = 4096;    // read together
constexpr int64_t kFirstChunk = 12;       // behind "RIFF", its size and "AVI "
constexpr int64_t kChunkHeaderBytes = 8;  // identifier, size
constexpr int kMostChunks = 1000;         // of the file's uppermost level

uint32_t number(const std::byte* at) {
  uint32_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::string_view letters(const std::byte* at) {
  return {reinterpret_cast<const char*>(at), 4};
}

struct Index {
  int64_t offset = 0;
  int64_t bytes = 0;
};

Index find_index(const ReadAt& read_at) {
  std::array<std::byte, kFirstChunk> head{};
  if (read_at(0, head) != head.size() || letters(head.data()) != "RIFF" ||
      letters(head.data() + 8) != "AVI ") {
    return {};
  }
  int64_t at = kFirstChunk;
  for (int i = 0; i < kMostChunks; ++i) {
    std::array<std::byte, kChunkHeaderBytes> chunk{};
    if (read_at(at, chunk) != chunk.size()) {
      break;
    }
    const int64_t bytes = number(chunk.data() + 4);
    if (letters(chunk.data()) == "idx1") {
      return {.offset = at + kChunkHeaderBytes, .bytes = bytes};
    }
    at += kChunkHeaderBytes + bytes + bytes % 2;
  }
  return {};
}

}  // namespace

std::vector<AviSilence> find_avi_silences(const ReadAt& read_at, int stream) {
  std::vector<AviSilence> silences;
  if (stream < 0 || stream > 99) {
    return silences;
  }
  const std::array<char, 4> name = {static_cast<char>('0' + stream / 10),
                                    static_cast<char>('0' + stream % 10), 'w', 'b'};
  const std::string_view wanted(name.data(), name.size());
  const Index index = find_index(read_at);
  std::vector<std::byte> block(kEntryBytes * kBlockEntries);
  int64_t packets = 0;
  for (int64_t at = 0; at < index.bytes;) {
    const auto room = std::min<int64_t>(static_cast<int64_t>(block.size()), index.bytes - at);
    const size_t got =
        read_at(index.offset + at, std::span(block).first(static_cast<size_t>(room))) / kEntryBytes;
    if (got == 0) {
      break;
    }
    for (size_t i = 0; i < got; ++i) {
      const std::byte* const entry = block.data() + i * kEntryBytes;
      if (letters(entry) != wanted) {
        continue;
      }
      if (number(entry + 12) > 0) {
        ++packets;
      } else if (!silences.empty() && silences.back().before_packet == packets) {
        ++silences.back().packets;
      } else {
        silences.push_back({.before_packet = packets, .packets = 1});
      }
    }
    at += static_cast<int64_t>(got * kEntryBytes);
  }
  return silences;
}

}  // namespace mynah::media
