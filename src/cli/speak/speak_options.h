// The options of `mynah speak`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "audio/sound_format.h"
#include "cli/command/fields.h"
#include "cli/hear/captions.h"
#include "speech/synthesizer.h"

namespace mynah::cli {

// EBU R 128's: the loudness of a programme in broadcasting.
constexpr double kLoudness_lufs = -23;

// How the text is read and spoken.
struct VoiceOptions {
  SpeakOptions speak;
  bool phonemes = false;
  TextKind kind = TextKind::Plain;
  std::optional<double> sentence_silence_s;
  std::string loudness = fmt::format("{}", kLoudness_lufs);  // or "none"

  void fields(Fields& fields);

  // Usage for a loudness that is no number.
  [[nodiscard]] Result<SpeakOptions> finish() const;
};

// --markup: what is written around the words.
void markup_field(Fields& fields, TextKind& kind);

// --emoji
void emoji_field(Fields& fields, EmojiReading& emoji);

// Where the sound goes.
struct SoundOptions {
  std::string out;  // "-": standard output; "": see is_played()
  std::optional<std::string> format;
  std::optional<int> rate_hz;
  std::string folder;  // a file for each line
  bool json_lines = false;
  bool play = false;
  std::string player;
  bool stream = false;
  CaptionOptions captions;

  void fields(Fields& fields);

  // A book in one file, AAC in MP4.
  [[nodiscard]] bool is_m4b() const;

  // The format of what is written: as named, or by the name of the file. `or_else`: what a user is
  // told beside the names that say one.
  [[nodiscard]] Result<SoundFormat> format_of(std::string_view or_else = ", or --format") const;
};

}  // namespace mynah::cli
