// Opens a Whisper model file of any format, for speech/load_hearing.cpp.
#pragma once

#include <memory>
#include <string>

#include "speech/window_model.h"

namespace mynah {

// A file of a Whisper. InvalidInput where it is none, Unsupported where it is a voice detector.
Result<std::shared_ptr<const HearingFile>> open_whisper(const std::string& path);

}  // namespace mynah
