// Samples on standard input to AAC.
#pragma once

#include <cstdint>
#include <functional>

#include "media/av_handles.h"

namespace mynah::media {

// FFmpeg's own AAC-LC encoder, mono.
class AacEncoder {
 public:
  // Takes a packet; false where it could not be written.
  using Take = std::function<bool(AVPacket&)>;

  // Opens the encoder; before confine(), as it makes its tables then. False where this FFmpeg has
  // none, or none of that rate. `global_header`: what a decoder must know goes into the context, as
  // MP4 wants it, and not before every packet.
  bool open(int rate_hz, bool global_header);

  // Mono floats from kMediaInputFd until its end. False where encoding or `take` failed. Packets'
  // times are in samples.
  bool run(const Take& take);

  [[nodiscard]] const AVCodecContext& context() const { return *codec_; }

 private:
  bool encode(const AVFrame* frame, const Take& take);

  AvHandle<AVCodecContext> codec_;
  AvHandle<AVFrame> frame_;
  AvHandle<AVPacket> packet_;
};

// Writes a packet as an ADTS frame to kMediaOutputFd.
bool write_adts(const AVPacket& packet, int rate_hz);

}  // namespace mynah::media
