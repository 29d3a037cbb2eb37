// Where speech goes: a file, standard output, a program that plays it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "audio/byte_sink.h"
#include "audio/sound_writer.h"
#include "base/process.h"
#include "cli/stream.h"

namespace mynah::cli {

// Bytes to standard output, at once.
class StreamSink final : public ByteSink {
 public:
  explicit StreamSink(OutputStream& out) : out_(out) {}

  Status write(std::span<const std::byte> bytes) override;

  [[nodiscard]] bool keeps() const override { return false; }

  Status overwrite(uint64_t offset, std::span<const std::byte> bytes) override;

 private:
  OutputStream& out_;
};

// One output, open for all of a text.
class SoundOutput {
 public:
  virtual ~SoundOutput() = default;

  virtual Status write(std::span<const float> samples) = 0;

  // Everything was written: a file gets its name now.
  virtual Status finish() = 0;

  // For messages: "out.wav", "standard output", "aplay".
  [[nodiscard]] virtual std::string name() const = 0;
};

// A file that appears under its name once it is whole; in its place, what there was, stays until
// then. Io where it cannot be made, told before anything is computed.
Result<std::unique_ptr<SoundOutput>> open_sound_file(const std::string& path,
                                                     const SoundWriterOptions& options);

// A stream of sound on standard output.
Result<std::unique_ptr<SoundOutput>> open_sound_stream(OutputStream& out,
                                                       const SoundWriterOptions& options);

// The first of pw-play, paplay, aplay and ffplay that this machine has, which is handed samples as
// they come; `player` names another that reads a WAV from its standard input. Environment where
// there is none.
Result<std::unique_ptr<SoundOutput>> open_player(const std::string& player, int rate_hz);

}  // namespace mynah::cli
