// What is wrong with a recording that FFmpeg does not open.
#pragma once

#include <string>

#include "media/byte_input.h"

namespace mynah::media {

// To be read after the recording's name. `error` is what avformat_open_input() gave.
[[nodiscard]] std::string explain_unopened(ByteInput& input, int error);

}  // namespace mynah::media
