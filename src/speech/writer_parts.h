// What the writers of transcripts share.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "speech/transcript.h"
#include "speech/writers.h"

namespace mynah {

// Seconds to milliseconds, to the nearest; never negative.
[[nodiscard]] int64_t to_milliseconds(double seconds);

enum class Hours : uint8_t { Always, WhereNeeded };

// "01:02:03.004"; openai/whisper utils.py format_timestamp.
[[nodiscard]] std::string clock_time(double seconds, char decimal_mark, Hours hours);

// Without white space at both ends, and line ends inside as spaces.
[[nodiscard]] std::string one_line(std::string_view text);

[[nodiscard]] bool is_blank(std::string_view text);

// Code points in the text.
[[nodiscard]] size_t character_count(std::string_view text);

[[nodiscard]] std::string replace_all(std::string text, std::string_view what,
                                      std::string_view with);

// whisper.cpp puts "(speaker 0)" before the text where a speaker is known.
[[nodiscard]] std::string speaker_prefix(std::string_view speaker);

// The segment's text on one line, behind its speaker's name.
[[nodiscard]] std::string named_line(const Segment& segment);

// For each token of a segment the word it helps to spell; none for special tokens, and for all
// where the segment has no words or tokens have no text.
[[nodiscard]] std::vector<std::optional<size_t>> token_words(
    const Segment& segment, const std::function<std::string(int32_t)>& token_text);

// A subtitle on the screen.
struct Cue {
  double start_s = 0;
  double end_s = 0;
  std::string text;  // may have several lines
  std::string speaker = {};
};

// Segments as cues, laid out as the options say.
[[nodiscard]] std::vector<Cue> subtitle_cues(const Transcript& transcript,
                                             const WriterOptions& options);

// The same as cues that can be read (CueShape::Readable): none empty, none before its speech, none
// over another, all text in its order.
[[nodiscard]] std::vector<Cue> readable_cues(const Transcript& transcript,
                                             const WriterOptions& options);

[[nodiscard]] std::string write_srt(const Transcript& transcript, const WriterOptions& options);
[[nodiscard]] std::string write_vtt(const Transcript& transcript, const WriterOptions& options);
[[nodiscard]] std::string write_whisper_cpp_json(const Transcript& transcript, bool tokens,
                                                 const WriterOptions& options);
[[nodiscard]] std::string write_karaoke(const Transcript& transcript, const WriterOptions& options);

}  // namespace mynah
