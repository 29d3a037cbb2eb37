// Frames of what libsndfile opens: wav, flac, aiff, au, caf and others; not MPEG audio, not Ogg.
#pragma once

#include <memory>

#include "audio/frame_reader.h"
#include "audio/input_file.h"
#include "base/result.h"

namespace mynah {

// Opens a seekable input with libsndfile, in this process. The descriptor is duplicated: `input`
// stays open for another reader to try where this one gives ErrorCode::Unsupported.
Result<std::unique_ptr<FrameReader>> open_with_sndfile(const InputFile& input);

}  // namespace mynah
