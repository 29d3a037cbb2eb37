// What a recogniser returns: segments of text with their times, and how they came to be.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "speech/placement_report.h"

namespace mynah {

// One word with its times in the recording. Text carries its leading space as Whisper writes it.
struct Word {
  std::string text;
  double start_s = 0;
  double end_s = 0;
  float probability = 0;
};

// A token of Whisper's that says where in its window a segment begins or ends.
struct TimestampToken {
  int32_t token = 0;
  float log_probability = 0;
  int position = 0;  // in 20 ms
};

// A run of text between two timestamps. Times are seconds from the start of the recording.
struct Segment {
  int64_t id = 0;
  double start_s = 0;
  double end_s = 0;
  std::string text;
  std::vector<int32_t> tokens;
  std::vector<float> token_log_probabilities;  // one a token
  std::optional<TimestampToken> opening;       // before the tokens, which are text alone
  std::optional<TimestampToken> closing;       // after them
  std::vector<Word> words;                     // where word times were asked for
  // Figures of the window the segment was decoded in.
  float temperature = 0;
  float mean_log_probability = 0;
  float compression_ratio = 0;
  float no_speech_probability = 0;
  std::string speaker;  // who spoke, where that is known
};

// All that the segments say.
[[nodiscard]] inline std::string text_of(std::span<const Segment> segments) {
  std::string text;
  for (const Segment& segment : segments) {
    text += segment.text;
  }
  return text;
}

// Milliseconds spent in one stage, and on what.
struct StageTiming {
  std::string stage;   // "audio", "vad", "stt.mel", "stt.encoder", "stt.decoder", "stt.words"
  std::string device;  // "cpu"
  double milliseconds = 0;
};

// A whole recording's text.
struct Transcript {
  std::string language;             // ISO 639-1 code
  float language_probability = 0;   // 1 when it was given
  std::string task = "transcribe";  // or "translate"
  double duration_s = 0;            // of the recording
  std::vector<Segment> segments;
  std::string model;
  std::string device;
  std::vector<StageTiming> timings;
  std::vector<std::string> notes;  // what the user should know: a recogniser of its own used
  std::vector<std::string> explanations =
      {};  // for who asks how it came about: windows decoded again
  std::optional<PlacementReport> placement{};  // where it was computed
};

}  // namespace mynah
