// How many bytes of samples a RIFF or IFF file (WAV, AIFF) promises, and how many it holds.
#pragma once

#include <cstdint>
#include <optional>

namespace mynah {

struct SampleBytes {
  int64_t promised = 0;
  int64_t present = 0;
};

// Walks the chunks of the file `fd` (regular, `size_bytes` long) to the one that holds the samples.
// libsndfile reads a cut file without a word, so the cut must be found here. None where the file is
// of another kind, or was written to a pipe, when the length stands as 0 or as about the largest
// number that fits.
//
// Layout: "Multimedia Programming Interface and Data Specifications 1.0" (IBM, Microsoft, 1991) for
// RIFF; "AIFF 1.3" (Apple, 1989) for FORM.
std::optional<SampleBytes> find_sample_bytes(int fd, int64_t size_bytes);

}  // namespace mynah
