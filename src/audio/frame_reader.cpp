#include "audio/frame_reader.h"

#include <algorithm>
#include <vector>

namespace mynah {

Status skip_by_reading(FrameReader& reader, int64_t count) {
  constexpr int64_t kBlockFrames = 4096;
  const auto channels = static_cast<size_t>(reader.channels());
  std::vector<float> forgotten(kBlockFrames * channels);
  while (count > 0) {
    const auto wanted = static_cast<size_t>(std::min(count, kBlockFrames));
    MYNAH_TRY(const size_t got, reader.read(std::span(forgotten).first(wanted * channels)));
    if (got == 0) {
      break;
    }
    count -= static_cast<int64_t>(got);
  }
  return {};
}

}  // namespace mynah
