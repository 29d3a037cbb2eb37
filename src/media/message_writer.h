// MessageWriter: mynah-media's half of audio/media_protocol.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "audio/media_protocol.h"
#include "audio/speakers.h"

namespace mynah::media {

// Frames are gathered into blocks; everything else is sent at once. A reader that is gone ends the
// process, as there is nobody left to tell.
class MessageWriter {
 public:
  // Of the first recording, or of another that follows. `speakers`: one for each channel, or none.
  void format(const MediaFormat& format, std::span<const Speaker> speakers);

  // Interleaved samples, whole frames of `channels`.
  void frames(std::span<const float> samples);

  // So many frames that are silent.
  void silence(int64_t frames);

  // What a user should know of the recording.
  void note(std::string_view text);

  // Sends what is gathered.
  void flush();

  void error(std::string_view text);
  void end();

 private:
  void send(MediaKind kind, std::span<const std::byte> payload);

  size_t frame_samples_ = 1;
  bool any_ = false;  // a format was sent
  std::vector<float> gathered_;
};

}  // namespace mynah::media
