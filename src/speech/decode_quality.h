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

// Letters that are said in a second at most. The fastest talker on record has 655 words a minute
// (Guinness World Records, Sean Shannon, 1995), about 49 letters a second; of the shared recordings
// in nine languages the fastest reader has 16. A syllable's sign (kana, Han, Hangul) counts as 2.5
// letters: languages differ in syllables a second (5.2 to 7.8: Pellegrino, Coupe and Marsico,
// Language 87, 2011), and those that have such signs are as fast as the others by this count.
inline constexpr double kMostLetters_per_s = 40;

// No fast talker's.
inline constexpr double kUsualLetters_per_s = 20;

// Letters of a text by that count.
[[nodiscard]] double letters_said(std::string_view text);

// Whether nobody can have said that in so many seconds.
[[nodiscard]] bool too_much_said(std::string_view text, double seconds);

// Whether the model believes so little of a recording's text that it may not know the language.
[[nodiscard]] bool doubtful_throughout(std::span<const Segment> segments);

}  // namespace mynah
