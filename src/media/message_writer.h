// MessageWriter: mynah-media's half of audio/media_protocol.h.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "audio/media_protocol.h"

namespace mynah::media {

// Frames are gathered into blocks; everything else is sent at once. A reader that is gone ends the
// process, as there is nobody left to tell.
class MessageWriter {
 public:
  void format(const MediaFormat& format);

  // Interleaved samples, whole frames of `channels`.
  void frames(std::span<const float> samples);

  // Sends what is gathered.
  void flush();

  void error(std::string_view text);
  void end();

 private:
  void send(MediaKind kind, std::span<const std::byte> payload);

  size_t frame_samples_ = 1;
  std::vector<float> gathered_;
};

}  // namespace mynah::media
