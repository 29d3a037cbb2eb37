// The header of a frame of MPEG audio, and what is found between frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace mynah::media {

// The bytes of the frame that `bytes` begin with, as its header gives them; 0 where that leaves
// them open. None: they do not begin with a frame. Tables: ISO/IEC 11172-3 and 13818-3,
// section 2.4.2.3; MPEG 2.5 halves the rates of MPEG 2.
std::optional<size_t> mpeg_frame_bytes(std::span<const uint8_t> bytes);

// Whether `bytes` begin a tag (ID3, APE) or are all 0.
bool is_tag(std::span<const uint8_t> bytes);

}  // namespace mynah::media
