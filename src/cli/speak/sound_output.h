// Where speech goes: a file, standard output, a program that plays it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "audio/sound_writer.h"
#include "base/process.h"
#include "cli/files/named_output.h"

namespace mynah::cli {

// One output, open for all of a text.
class SoundOutput {
 public:
  virtual ~SoundOutput() = default;

  virtual Status write(std::span<const float> samples) = 0;

  // Everything was written: a file gets its name now.
  virtual Status finish() = 0;

  // Says that no more comes, though not all was written: a file is kept as NAME.partial. Gives what
  // is said of it; nothing where nothing is kept.
  virtual Result<std::optional<std::string>> keep_part() = 0;

  // For messages: "out.wav", "standard output", "aplay".
  [[nodiscard]] virtual std::string name() const = 0;
};

// Opens what a user named (NamedOutput): a file, a device, "-".
Result<std::unique_ptr<SoundOutput>> open_sound_output(const std::string& path, OutputStream& out,
                                                       const SoundWriterOptions& options);

// A file of AAC in MP4 (audio/book_writer.h), as one chapter.
Result<std::unique_ptr<SoundOutput>> open_book_output(const std::string& path, int rate_hz);

// The first of pw-play, paplay, aplay and ffplay that this machine has, which is handed samples as
// they come; `player` names another that reads a WAV from its standard input. Environment where
// there is none.
Result<std::unique_ptr<SoundOutput>> open_player(const std::string& player, int rate_hz);

}  // namespace mynah::cli
