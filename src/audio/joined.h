// Recordings that were joined on behind another in one file.
#pragma once

#include <cstdint>
#include <optional>

#include "audio/read_at.h"

namespace mynah {

// What lies behind a recording.
struct Behind {
  std::optional<int64_t> next;  // byte where another recording begins
  int64_t unknown_bytes = 0;    // that are neither its own chunks nor another recording
};

// Looks behind the recording that begins at byte `from` of a file of `size_bytes`: by its own sizes
// where it is a WAV, an AIFF, an AVI, an MP4 or QuickTime file, a CAF, an ASF, an AU, an Ogg or a
// Matroska, and else (FLAC, MPEG audio and streams, FLV ...) by a search for what recordings begin
// with. Believes no number of the file: whatever it holds, `next` lies behind `from` and within it.
Behind look_behind(const ReadAt& read_at, int64_t size_bytes, int64_t from);

// Whether a file is an MP4 or a QuickTime file with samples and without the table of where they are
// (moov), which recorders write last. `samples_bytes` is how many of them are there.
[[nodiscard]] bool lacks_index(const ReadAt& read_at, int64_t size_bytes, int64_t& samples_bytes);

// Reads a regular file by its descriptor, which keeps its place.
[[nodiscard]] ReadAt read_at_of(int fd);

}  // namespace mynah
