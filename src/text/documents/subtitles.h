// Subtitles as text, with the times of their cues: SubRip (.srt), WebVTT (.vtt), and the formats of
// subtitle_formats.h.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/documents/document.h"

namespace mynah {

struct SubtitleCue {
  double start_s = 0;
  double end_s = 0;  // not before the start
  std::string text;  // without tags; a line break where it has one
};

struct Subtitles {
  std::vector<SubtitleCue> cues;      // by their begins; none without text
  std::vector<std::string> warnings;  // a sentence each
};

enum class SubtitleSign : unsigned char { No, NeedsMore, Yes };

// Whether a text begins as subtitles do: "WEBVTT", or a number and "00:00:01,000 --> 00:00:04,000"
// below it, or that at once. `whole`: the text does not go on.
[[nodiscard]] SubtitleSign look_for_subtitles(std::string_view text, bool whole);

// Reads UTF-8 with any line ends. Left out: numbers and names of cues, settings behind the times,
// tags (<i>, <c.yellow>, <v Name>, {\an8}), times within the text, NOTE, STYLE and REGION blocks,
// notes of music, dashes before speakers, and lines that a rolling caption has from the one before.
// Cues out of order are sorted, with a warning. InvalidInput, with the line, for times that cannot
// be read and for a text that is none (SubRip has no standard: where players agree, so is it read;
// WebVTT: W3C candidate recommendation of 2019).
// Sounds and names of speakers (cue_descriptions.h) are said where notes are, at Inline.
[[nodiscard]] Result<Subtitles> read_subtitles(std::string_view text,
                                               NoteReading how = NoteReading::Skip);

// The same of a file in any encoding that documents have (encoding.h), with its name in errors.
[[nodiscard]] Result<Subtitles> read_subtitle_file(const std::string& path,
                                                   NoteReading how = NoteReading::Skip);

// Their text as one chapter: cues that follow each other are one paragraph.
[[nodiscard]] Document document_of(const Subtitles& subtitles);

// "1:02:03.500"
[[nodiscard]] std::string cue_time(double seconds);

}  // namespace mynah
