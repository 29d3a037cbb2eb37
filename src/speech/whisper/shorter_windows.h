// Where a window's text is a loop, the window is heard again in shorter ones: in a few seconds
// there is no room for one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "speech/recognizer_options.h"
#include "speech/whisper/window_text.h"

namespace mynah {

// A window that is not cut: a sentence or two.
inline constexpr double kShortWindow_s = 7;

// How many of a window's samples are to be heard alone, where its text repeats itself or says more
// than can be said in the time, and the window is long enough to be cut: up to the quietest moment
// of its middle. None: the text is taken as it is.
[[nodiscard]] std::optional<int64_t> shorter_window(const WhisperTokenizer& tokenizer,
                                                    const WhisperOptions& options,
                                                    std::span<const float> samples,
                                                    const WindowText& text);

}  // namespace mynah
