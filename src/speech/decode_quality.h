// How far a window's text can be trusted.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mynah {

// Bytes over bytes compressed with zlib, as openai/whisper utils.py compression_ratio: text that
// repeats itself has a high one. 0 for no text.
[[nodiscard]] float compression_ratio(std::string_view text);

// Entropy in nats of the last 32 tokens: whisper.cpp's guard against repetition (whisper.cpp,
// whisper_sequence_score).
[[nodiscard]] float token_entropy(std::span<const int32_t> tokens);

}  // namespace mynah
