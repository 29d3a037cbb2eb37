// Captions of what was spoken: subtitles and words with their times, as of a transcript.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "speech/synthesizer.h"
#include "speech/transcript.h"

namespace mynah::cli {

// A clause as a segment of a transcript.
[[nodiscard]] Segment segment_of(const SpokenClause& clause, int64_t id);

// {"text", "start", "end", "first_byte" (of all text), "words": [{"word", "start", "end",
// "phonemes": [{"phoneme", "start", "end"}]}]}; seconds, to the tenth of a millisecond.
[[nodiscard]] nlohmann::ordered_json to_json(const SpokenClause& clause);

// Writes subtitles whole: SubRip where the name ends in .srt, else WebVTT.
struct CaptionOptions {
  std::string srt;  // paths; "": none
  std::string vtt;
};

Status write_captions(const Transcript& transcript, const CaptionOptions& options);

}  // namespace mynah::cli
