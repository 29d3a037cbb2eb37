// What is known of one recording's speech, and how it is printed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "speech/voice_detector.h"

namespace mynah::cli {

// The lowest and the highest sample of a frame.
struct FramePeaks {
  float low = 0;
  float high = 0;
};

struct VoiceReport {
  std::string file;
  std::string model;  // the detector's name
  int rate_hz = 0;
  double frame_s = 0;
  double start_s = 0;                // where in the recording the hearing began
  double duration_s = 0;             // of what was heard
  std::vector<SpeechSpan> spans;     // times in the recording
  std::vector<float> probabilities;  // one a frame; where they were asked for
  std::vector<FramePeaks> peaks;     // one a frame; where a plot was asked for
};

// Seconds of speech.
[[nodiscard]] double speech_s(const VoiceReport& report);

// "    0.290     2.334": begin and end in seconds.
[[nodiscard]] std::string text_line(const SpeechSpan& span);

// "jfk.flac: 4 segments, 8.7 of 11.0 s are speech (silero v6)".
[[nodiscard]] std::string summary(const VoiceReport& report);

// One object on one line: file, model, rate_hz, duration, speech, segments, where it was computed,
// and where they are wanted the frames' probabilities.
[[nodiscard]] std::string json_line(const VoiceReport& report, bool with_probabilities,
                                    nlohmann::ordered_json placement);

// NIST's Rich Transcription Time Marked lines, speaker "speech"; the file is named without folder
// and extension.
[[nodiscard]] std::string rttm_lines(const VoiceReport& report);

// An SVG picture: for each recording its waveform, the probability of speech and the segments.
[[nodiscard]] std::string plot_svg(const std::vector<VoiceReport>& reports, float threshold);

}  // namespace mynah::cli
