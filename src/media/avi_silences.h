// Where an AVI leaves a stretch of its sound out.
#pragma once

#include <cstdint>
#include <vector>

#include "audio/read_at.h"

namespace mynah::media {

// An AVI has no time stamps: where nothing is to be heard its writer puts empty packets, one for
// each frame, which FFmpeg passes over.
struct AviSilence {
  int64_t before_packet;  // number of the packet, from 0 and without empty ones, that it precedes
  int64_t packets;        // that are empty
};

// Reads the old index (idx1) of an AVI: the empty packets of stream number `stream`, in order.
// Nothing where the file has no such index, or it is broken.
//
// Layout: Microsoft, "AVI RIFF File Reference" (AVIOLDINDEX).
std::vector<AviSilence> find_avi_silences(const ReadAt& read_at, int stream);

}  // namespace mynah::media
