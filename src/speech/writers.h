// Transcripts as files: text, subtitles, tables, JSON.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "speech/recognizer.h"
#include "speech/transcript.h"

namespace mynah {

enum class TranscriptFormat : uint8_t {
  Txt,
  Srt,
  Vtt,
  Json,
  JsonFull,  // whisper.cpp's, with tokens; in mynah's own style the same as Json
  Tsv,
  Csv,
  Lrc,
  Aud,  // Audacity's labels
  Wts   // a shell script that makes a karaoke video with ffmpeg
};

// Whose files they should look like: openai/whisper's (and OpenAI's API for JSON), or
// whisper.cpp's.
enum class TranscriptStyle : uint8_t { OpenAi, WhisperCpp };

// What a subtitle is: a segment of the recogniser's as it is (openai/whisper's files), or text cut
// and timed so that it can be read: at most two lines of 42 characters, 0.7 to 7 s, 21 characters a
// second where speech allows.
enum class CueShape : uint8_t { Raw, Readable };

[[nodiscard]] std::optional<TranscriptFormat> parse_transcript_format(std::string_view name);
// "srt"; JsonFull: "json".
[[nodiscard]] std::string_view extension(TranscriptFormat format);
[[nodiscard]] const std::vector<std::string>& transcript_format_names();

struct WriterOptions {
  TranscriptStyle style = TranscriptStyle::OpenAi;
  // Subtitles (openai/whisper utils.py): characters in a line and lines in a cue; without the
  // second a cue is a segment. Both need word times to be exact; without them, times inside a
  // segment are shared out by length.
  std::optional<int> max_line_width;
  std::optional<int> max_line_count;
  bool highlight_words = false;   // a cue a word, that word underlined; needs word times
  CueShape cues = CueShape::Raw;  // in whisper.cpp's style always raw
  int max_cue_characters = 0;     // of readable cues; 0: what their lines hold
  double start_s = 0;             // where in the recording reading began; times are counted from 0
  bool words = true;              // JSON has the words that segments have
  int64_t first_cue = 1;          // number of the first SRT cue

  std::string file;         // the recording's name, for JSON and karaoke; empty: left out
  std::string model_path;   // whisper.cpp's JSON: what was asked for
  std::string language;     // the same
  std::string system_info;  // the same
  bool multilingual = false;
  ModelFacts facts;
  std::function<std::string(int32_t)> token_text;  // null: tokens have no text
};

// The whole file. Never fails: text that is not UTF-8 gets U+FFFD where it is broken.
[[nodiscard]] std::string write_transcript(const Transcript& transcript, TranscriptFormat format,
                                           const WriterOptions& options);

// OpenAI's verbose_json on one line without its end, with words, device and milliseconds a stage
// besides.
[[nodiscard]] std::string transcript_json_line(const Transcript& transcript,
                                               const WriterOptions& options);

// A timestamp as text: openai/whisper's "<|1.50|>"; whisper.cpp's "[_BEG_]" at 0, "[_TT_75]" after.
[[nodiscard]] std::string timestamp_text(const TimestampToken& timestamp, TranscriptStyle style);

// A segment's text between its timestamps. whisper.cpp keeps none at the beginning but "[_BEG_]".
[[nodiscard]] std::string text_with_timestamps(const Segment& segment, TranscriptStyle style);

// Cuts segments so that none has more than `max_characters`, at words (whisper.cpp's --max-len with
// --split-on-word). Needs word times; a segment without stays as it is. Tokens go with the word
// they spell, by `token_text`.
[[nodiscard]] std::vector<Segment> split_segments(
    const std::vector<Segment>& segments, int max_characters,
    const std::function<std::string(int32_t)>& token_text);

}  // namespace mynah
