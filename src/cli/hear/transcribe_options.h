// The options of `mynah transcribe`, shared in part with `mynah wer`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "audio/open.h"
#include "cli/command/fields.h"
#include "engine/recognizer.h"
#include "speech/recognizer_options.h"
#include "speech/writers.h"

namespace mynah::cli {

// How to hear: RecognizerOptions and the few flags that are several of its members.
struct RecognizerFlags {
  RecognizerOptions options;
  float temperature = 0.0F;
  float temperature_increment = 0.2F;
  bool fallback = true;
  std::vector<std::string> clips;
  std::string hotwords;
  std::string lexicon;  // its file; "": none

  void fields(Fields& fields);
  void vad_fields(Fields& fields);

  // What the flags say together; refuses what is out of range.
  [[nodiscard]] Result<RecognizerOptions> finish() const;
};

// Which part of a recording, and how it is to be read.
struct RecordingOptions {
  std::optional<int> channel;
  std::string track;  // number or language; empty: the first with speech
  double start_s = 0;
  std::optional<double> length_s;
  std::string raw;  // encoding of samples without a header; empty: a file like any other
  std::optional<int> raw_rate_hz;  // none: as telephony has it, or 16000
  int raw_channels = 1;

  void fields(Fields& fields);

  [[nodiscard]] Result<AudioOpenOptions> finish() const;
};

// What is written where.
struct OutputOptions {
  std::vector<std::string> formats;
  std::string folder;
  std::vector<std::string> bases;  // --output-file: one a recording, without extension
  bool beside = false;
  TranscriptStyle style = TranscriptStyle::OpenAi;
  CueShape cues = CueShape::Readable;
  std::optional<int> max_line_width;
  std::optional<int> max_line_count;
  bool highlight_words = false;
  int max_segment_length = 0;  // characters; 0: no limit
  int64_t cue_offset = 0;
  bool stereo_speakers = false;
  bool confidence = false;
  bool confidence_marks = false;
  bool special_tokens = false;
  bool quiet = false;
  bool progress = true;
  bool progress_lines = false;
  bool explain = false;
  bool resume = false;

  void fields(Fields& fields);

  // Refuses what is out of range.
  [[nodiscard]] Status check() const;
};

}  // namespace mynah::cli
