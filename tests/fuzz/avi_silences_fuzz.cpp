// Looks for the silences of an AVI. What is found is in order and counts something.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "media/avi_silences.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto read_at = [bytes](int64_t offset, std::span<std::byte> out) -> size_t {
    if (offset < 0 || offset > static_cast<int64_t>(bytes.size())) {
      return 0;
    }
    const auto rest = bytes.subspan(static_cast<size_t>(offset));
    const size_t count = std::min(rest.size(), out.size());
    std::copy_n(rest.begin(), count, out.begin());
    return count;
  };
  int64_t last = -1;
  int64_t all = 0;
  for (const auto& silence : mynah::media::find_avi_silences(read_at, 1)) {
    if (silence.before_packet <= last || silence.packets <= 0) {
      std::abort();
    }
    last = silence.before_packet;
    all += silence.packets;
  }
  if (all > static_cast<int64_t>(size) / 16) {
    std::abort();
  }
  return 0;
}
