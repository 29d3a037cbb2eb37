// SoundWriter: mono samples to a sound file, piece by piece.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "audio/byte_sink.h"
#include "audio/sound_format.h"
#include "base/result.h"

namespace mynah {

struct SoundWriterOptions {
  SoundFormat format = SoundFormat::Wav;
  int rate_hz = 24000;                // of the samples
  std::optional<int> file_rate_hz{};  // none: the samples', or the next that the format has
  std::string media_program{};        // mynah-media, for AAC; empty: beside this program
};

// One encoder for a whole output, however it is cut into pieces. Samples outside of [-1, 1] are cut
// off there.
class SoundWriter {
 public:
  virtual ~SoundWriter() = default;

  virtual Status write(std::span<const float> samples) = 0;

  // Writes what is still held back, and where the sink keeps its bytes, the true sizes into the
  // header. Nothing may be written after it.
  virtual Status finish() = 0;
};

// `sink` must outlive it. A WAV whose sink does not keep has sizes of 0xFFFFFFFF in its header, as
// streams of unknown length have them. Errors: Usage for a rate that the format does not have;
// Environment where a library was built without the format.
Result<std::unique_ptr<SoundWriter>> make_sound_writer(ByteSink& sink,
                                                       const SoundWriterOptions& options);

}  // namespace mynah
