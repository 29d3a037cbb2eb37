// Cuts an Ogg file into its recordings. However it comes in pieces (the first byte sets their
// size), the cuts are the same and no byte is lost.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "media/ogg_cutter.h"

namespace {

std::vector<size_t> cuts(std::span<const uint8_t> bytes, size_t piece) {
  mynah::media::OggCutter cutter;
  std::vector<size_t> found;
  size_t at = 0;
  size_t room = piece;
  while (at < bytes.size()) {
    const auto given = bytes.subspan(at, std::min(room, bytes.size() - at));
    const auto step = cutter.take(given);
    if (step.bytes > given.size()) {
      std::abort();
    }
    at += step.bytes;
    room = piece;
    if (step.ends) {
      found.push_back(at);
      cutter.begin();
    } else if (step.needs_more) {
      if (at + given.size() - step.bytes == bytes.size()) {
        break;
      }
      room = given.size() - step.bytes + piece;
    }
  }
  return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::span bytes(data + 1, size - 1);
  if (cuts(bytes, size_t{data[0]} + 1) != cuts(bytes, size)) {
    std::abort();
  }
  const auto read_at = [bytes](int64_t offset, std::span<std::byte> out) -> size_t {
    const auto rest =
        std::as_bytes(bytes).subspan(std::min<size_t>(static_cast<size_t>(offset), bytes.size()));
    const size_t count = std::min(rest.size(), out.size());
    std::copy_n(rest.begin(), count, out.begin());
    return count;
  };
  mynah::media::is_chained(read_at, static_cast<int64_t>(bytes.size()));
  return 0;
}
