// VorbisEnd: how much of the last packet's sound is none of the recording's, in Ogg.
#pragma once

#include <cstdint>
#include <optional>

extern "C" {
#include <libavcodec/packet.h>
}

namespace mynah::media {

// The first packet of Vorbis gives no sound, only the overlap with the second. FFmpeg counts it all
// the same where one page holds the whole sound, and then takes too much off its end: the granule
// position of that page is the length, and there is no page before it to count from.
class VorbisEnd {
 public:
  // Takes every packet of the stream in order, before it is decoded, and mends what it says is to
  // be left out.
  void mend(AVPacket& packet);

  // Whether this is a header: another recording follows that was joined on.
  static bool is_header(const AVPacket& packet) {
    return packet.size > 0 && (packet.data[0] & 1U) != 0;
  }

 private:
  struct First {
    int64_t page_at;     // byte where its page begins
    uint32_t uncounted;  // samples that FFmpeg takes it for, though the recording has them not
  };

  std::optional<First> first_;  // packet of sound of this recording
};

}  // namespace mynah::media
