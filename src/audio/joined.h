// Recordings that were joined on behind another in one file.
#pragma once

#include <cstdint>
#include <optional>

namespace mynah {

// What lies behind a recording.
struct Behind {
  std::optional<int64_t> next;  // byte where another recording begins
  int64_t unknown_bytes = 0;    // that are neither its own chunks nor another recording
};

// Looks behind the recording that begins at byte `from` of the file `fd` (regular, `size_bytes`
// long), where that is a WAV or an AIFF (its chunks are walked) or a FLAC (the signature of another
// one or of a WAV is looked for). Believes no number of the file: whatever it holds, `next` lies
// behind `from` and within it.
Behind look_behind(int fd, int64_t size_bytes, int64_t from);

}  // namespace mynah
