// The pages of an Ogg stream. Of the first byte, the low bits set the size of the pieces in which
// it comes; the highest one asks for pages with a true checksum, which no fuzzer would guess.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include "media/ogg_pages.h"

namespace {

using mynah::media::OggPages;

constexpr uint8_t kSealFlag = 0x80;
constexpr size_t kHeaderBytes = 27;
constexpr size_t kChecksumAt = 22;

// Bit by bit, as RFC 3533 says it: FFmpeg's tables are checked by this too.
uint32_t checksum(std::span<const uint8_t> page) {
  uint32_t sum = 0;
  for (const uint8_t byte : page) {
    sum ^= uint32_t{byte} << 24U;
    for (int bit = 0; bit < 8; ++bit) {
      sum = (sum << 1U) ^ ((sum >> 31U) * 0x04c11db7U);
    }
  }
  return sum;
}

// The bytes of the whole page at the beginning of `bytes`; 0: there is none.
size_t page_bytes(std::span<const uint8_t> bytes) {
  constexpr std::string_view kCapture = "OggS";
  if (bytes.size() < kHeaderBytes || !std::ranges::equal(bytes.first(kCapture.size()), kCapture) ||
      bytes.size() < kHeaderBytes + bytes[kHeaderBytes - 1]) {
    return 0;
  }
  const auto lengths = bytes.subspan(kHeaderBytes, bytes[kHeaderBytes - 1]);
  const size_t size =
      std::accumulate(lengths.begin(), lengths.end(), kHeaderBytes + lengths.size());
  return size <= bytes.size() ? size : 0;
}

// Gives every page its checksum. Returns whether the bytes are pages and nothing else.
bool seal(std::span<uint8_t> left) {
  bool all_pages = true;
  while (!left.empty()) {
    const size_t size = page_bytes(left);
    if (size > 0) {
      std::fill_n(left.begin() + kChecksumAt, 4, uint8_t{0});
      const uint32_t sum = checksum(left.first(size));
      for (size_t i = 0; i < 4; ++i) {
        left[kChecksumAt + i] = static_cast<uint8_t>(sum >> (8 * i));
      }
    }
    all_pages = all_pages && size > 0;
    left = left.subspan(std::max<size_t>(size, 1));
  }
  return all_pages;
}

void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) {
    return 0;
  }
  std::vector<uint8_t> bytes(data + 1, data + size);
  const bool all_pages = (data[0] & kSealFlag) != 0 && seal(bytes);
  OggPages whole;
  whole.push(bytes);

  const size_t piece = (data[0] & ~kSealFlag) + size_t{1};
  OggPages pieces;
  for (std::span<const uint8_t> left(bytes); !left.empty();) {
    const bool damaged = pieces.is_damaged();
    const int64_t granule = pieces.granule_at_damage();
    pieces.push(left.first(std::min(piece, left.size())));
    left = left.subspan(std::min(piece, left.size()));
    // What was found stays.
    require(!damaged || (pieces.is_damaged() && pieces.granule_at_damage() == granule));
  }
  require(pieces.is_damaged() == whole.is_damaged());
  require(pieces.is_cut_off() == whole.is_cut_off());
  require(pieces.granule_at_damage() == whole.granule_at_damage());
  require(whole.granule_at_damage() >= 0);

  // Whole pages and nothing between them: whether they are cut off is the last one's word, and
  // bytes that are none, between them, are damage.
  if (all_pages && !bytes.empty()) {
    size_t last = 0;
    for (size_t at = 0; at < bytes.size(); at += page_bytes(std::span(bytes).subspan(at))) {
      last = at;
    }
    require(whole.is_cut_off() == ((bytes[last + 5] & 4U) == 0));
    OggPages parted;
    parted.push(bytes);
    parted.push(std::vector<uint8_t>(3, 'x'));
    require(parted.is_cut_off() == whole.is_cut_off() && parted.is_damaged() == whole.is_damaged());
    parted.push(bytes);
    require(parted.is_damaged());
  }
  return 0;
}
