// A recording and those that were joined on behind it in one file (cat a.wav b.wav).
#pragma once

#include <memory>

#include "audio/frame_reader.h"
#include "audio/input_file.h"
#include "audio/media_reader.h"
#include "base/result.h"

namespace mynah {

// Reads `first`, which reads the beginning of the file `input`, and then what look_behind() finds,
// with mynah-media. What lies behind and is no recording is noted where it is long.
Result<std::unique_ptr<FrameReader>> with_joined(std::unique_ptr<FrameReader> first,
                                                 const InputFile& input, MediaOptions options);

}  // namespace mynah
