#include "audio/frame_reader.h"

#include <algorithm>
#include <vector>

namespace mynah {

Result<int64_t> skip_by_reading(FrameReader& reader, int64_t count) {
  constexpr int64_t kBlockFrames = 4096;
  const auto channels = static_cast<size_t>(reader.channels());
  std::vector<float> forgotten(kBlockFrames * channels);
  int64_t skipped = 0;
  while (skipped < count) {
    const auto wanted = static_cast<size_t>(std::min(count - skipped, kBlockFrames));
    MYNAH_TRY(const size_t got, reader.read(std::span(forgotten).first(wanted * channels)));
    if (got == 0) {
      break;
    }
    skipped += static_cast<int64_t>(got);
  }
  return skipped;
}

}  // namespace mynah
