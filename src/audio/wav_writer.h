// Writes mono or interleaved samples as a WAV file.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"

namespace mynah {

enum class WavFormat { S16, F32 };

// Writes `samples` (interleaved, a whole number of frames, in [-1, 1]) to `path`, replacing it. S16
// rounds to nearest and clips. Errors: Io; InvalidInput where the samples do not fit a WAV file's 4
// GiB.
Status write_wav(const std::string& path, std::span<const float> samples, int rate_hz, int channels,
                 WavFormat format);

}  // namespace mynah
