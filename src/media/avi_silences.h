// Where an AVI leaves a stretch of its sound out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace mynah::media {

// An AVI has no time stamps: where nothing is to be heard its writer puts empty packets, one for
// each frame, which FFmpeg passes over.
struct AviSilence {
  int64_t before_packet;  // number of the packet, from 0 and without empty ones, that it precedes
  int64_t packets;        // that are empty
};

// Fills its span from an offset of the file and returns how many bytes there were.
using ReadAt = std::function<size_t(int64_t offset, std::span<std::byte> out)>;

// Reads the old index (idx1) of an AVI: the empty packets of stream number `stream`, in order.
// Nothing where the file has no such index, or it is broken.
//
// Layout: Microsoft, "AVI RIFF File Reference" (AVIOLDINDEX).
std::vector<AviSilence> find_avi_silences(const ReadAt& read_at, int stream);

}  // namespace mynah::media
