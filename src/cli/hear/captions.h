// Captions of what was spoken: subtitles and words with their times, as of a transcript.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/command/stream.h"
#include "speech/synthesizer.h"
#include "speech/transcript.h"

namespace mynah::cli {

// A clause as a segment of a transcript.
[[nodiscard]] Segment segment_of(const SpokenClause& clause, int64_t id);

// {"text", "start", "end", "first_byte" (of all text), "words": [{"word", "start", "end",
// "phonemes": [{"phoneme", "start", "end"}]}]}; seconds, to the tenth of a millisecond. What was
// spoken of before the clause's own session is added to its times and its place.
[[nodiscard]] nlohmann::ordered_json to_json(const SpokenClause& clause, double offset_s = 0,
                                             size_t offset_bytes = 0);

struct CaptionOptions {
  std::string srt;  // paths, or "-"; "": none
  std::string vtt;
};

// Writes subtitles, SubRip and WebVTT, to where they are wanted (NamedOutput), in cues that can be
// read.
Status write_captions(const Transcript& transcript, const CaptionOptions& options,
                      OutputStream& out);

}  // namespace mynah::cli
