// How far a window's text can be trusted, or a recording's.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "speech/transcript.h"

namespace mynah {

// Bytes over bytes compressed with zlib, as openai/whisper utils.py compression_ratio: text that
// repeats itself has a high one. 0 for no text.
[[nodiscard]] float compression_ratio(std::string_view text);

// Entropy in nats of the last 32 tokens: whisper.cpp's guard against repetition (whisper.cpp,
// whisper_sequence_score).
[[nodiscard]] float token_entropy(std::span<const int32_t> tokens);

// Whether the model believes so little of a recording's text that it may not know the language.
[[nodiscard]] bool doubtful_throughout(std::span<const Segment> segments);

}  // namespace mynah
