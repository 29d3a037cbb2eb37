#include "media/vorbis_end.h"

#include <algorithm>

extern "C" {
#include <libavutil/intreadwrite.h>
}

namespace mynah::media {

void VorbisEnd::mend(AVPacket& packet) {
  if (is_header(packet)) {
    first_.reset();
    return;
  }
  if (!first_) {
    // Where FFmpeg counts from a page's end, the packet begins before 0.
    const bool from_zero = packet.pts == 0 && packet.duration > 0;
    first_ = {.page_at = packet.pos,
              .uncounted = from_zero ? static_cast<uint32_t>(packet.duration) : 0};
  }
  // Two numbers of 32 bits: samples to leave out in front, and behind.
  size_t bytes = 0;
  uint8_t* skip = av_packet_get_side_data(&packet, AV_PKT_DATA_SKIP_SAMPLES, &bytes);
  if (skip != nullptr && bytes >= 8 && packet.pos == first_->page_at) {
    const uint32_t behind = AV_RL32(skip + 4);
    AV_WL32(skip + 4, behind - std::min(behind, first_->uncounted));
  }
}

}  // namespace mynah::media
