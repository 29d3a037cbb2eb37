// Frames of samples without a header.
#pragma once

#include <memory>

#include "audio/frame_reader.h"
#include "audio/input_file.h"
#include "audio/open.h"
#include "base/result.h"

namespace mynah {

// Reads the bytes of `input` as `raw` says. From a pipe, frames are given as they come in.
Result<std::unique_ptr<FrameReader>> open_raw(InputFile input, const AudioOpenOptions::Raw& raw);

}  // namespace mynah
