// Subtitles that are neither SubRip nor WebVTT, as cues with their lines: SubStation Alpha (.ass,
// .ssa), TTML (.ttml, .dfxp) and YouTube's SubViewer (.sbv).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mynah {

enum class SubtitleFormat : unsigned char {
  SubStation,
  TimedText,
  SubViewer,
};

// The format that a text begins as; nothing where it is none of the three, or ends too early to
// tell and `whole` says that it goes on.
[[nodiscard]] std::optional<SubtitleFormat> other_subtitle_format(std::string_view text);

// Whether a text that goes on may still begin so.
[[nodiscard]] bool may_be_other_subtitles(std::string_view text);

struct TimedLines {
  double start_s = 0;
  double end_s = 0;
  std::vector<std::string> lines;  // with the marks of SubRip, if any
};

// The cues of such a text, in its order; those without times that can be read are left out.
// SubStation: "Dialogue:" events (Aegisub's and libass' reading of v4 and v4+), without drawings,
// overrides and comments, one that several layers have once. TTML: W3C recommendation TTML 1,
// <p begin end dur> with the begins of what is around it, clock times, offsets, frames and ticks.
[[nodiscard]] std::vector<TimedLines> read_timed_lines(std::string_view text,
                                                       SubtitleFormat format);

}  // namespace mynah
