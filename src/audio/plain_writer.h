// WAV, and samples without a header.
#pragma once

#include <cstdint>
#include <memory>

#include "audio/byte_sink.h"
#include "audio/sound_writer.h"

namespace mynah {

// RIFF/WAVE of 16 bits ("Multimedia Programming Interface and Data Specifications 1.0", IBM and
// Microsoft, 1991). More than 4 GiB of samples are an error of finish() where the sink keeps.
std::unique_ptr<SoundWriter> make_wav_writer(ByteSink& sink, int rate_hz);

// 16 bits, signed, little-endian.
std::unique_ptr<SoundWriter> make_pcm_writer(ByteSink& sink);

}  // namespace mynah
