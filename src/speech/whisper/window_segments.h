// A window's tokens cut into segments at their timestamps (openai/whisper transcribe.py).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "text/whisper_tokenizer.h"

namespace mynah {

// Tokens between two timestamps of a window; they are not among the tokens. Times are seconds from
// the start of the window.
struct WindowSegment {
  double start_s = 0;
  double end_s = 0;
  std::vector<int32_t> tokens;        // text only
  std::vector<size_t> token_indices;  // where in the window's tokens they stood
  // The timestamps around them, where they are.
  std::optional<size_t> opening_index;
  std::optional<size_t> closing_index;
};

struct WindowSegments {
  std::vector<WindowSegment> segments;
  // Where the next window begins: the last timestamp that closes a segment, or the window's end.
  double next_s = 0;
  // The text ended with a lone timestamp: nothing is said after it in this window.
  bool single_timestamp_ending = false;
};

// What becomes of text that no timestamp ends.
enum class LastWords : uint8_t { HeardAgain, Kept };

// `duration_s` is the audio's part of the window.
[[nodiscard]] WindowSegments cut_into_segments(const WhisperTokenizer& tokenizer,
                                               std::span<const int32_t> tokens, double duration_s,
                                               LastWords last_words = LastWords::HeardAgain);

}  // namespace mynah
