// Segments on standard output, as they are recognised.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "speech/transcript.h"
#include "speech/writers.h"

namespace mynah::cli {

enum class Confidence : uint8_t {
  Hidden,
  Colours,  // red to green, by the cube of the probability, as whisper-cli --print-colors
  Marks     // reversed, underlined, dim, as whisper-cli --print-confidence
};

struct PrintOptions {
  bool times = true;
  TranscriptStyle style = TranscriptStyle::OpenAi;
  Confidence confidence = Confidence::Hidden;
  bool joined = false;  // one recording, one line: whisper-cli --no-timestamps
};

// One line without its end: "[00:00.000 --> 00:02.500] Hello there."; whisper-cli's style:
// "[00:00:00.000 --> 00:00:02.500]   Hello there."
[[nodiscard]] std::string segment_line(const Segment& segment, const PrintOptions& options);

}  // namespace mynah::cli
