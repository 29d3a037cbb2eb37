// Samples on standard input to AAC on standard output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "media/av_handles.h"

namespace mynah::media {

// FFmpeg's own AAC-LC encoder, mono.
class AacEncoder {
 public:
  // Opens the encoder; before confine(), as it makes its tables then. False where this FFmpeg has
  // none, or none of that rate.
  bool open(int rate_hz);

  // Mono floats from kMediaInputFd until its end, ADTS frames to kMediaOutputFd. False where it
  // failed.
  bool run();

 private:
  bool encode(const AVFrame* frame);
  bool write(const AVPacket& packet) const;

  AvHandle<AVCodecContext> codec_;
  AvHandle<AVFrame> frame_;
  AvHandle<AVPacket> packet_;
  size_t rate_index_ = 0;
};

}  // namespace mynah::media
