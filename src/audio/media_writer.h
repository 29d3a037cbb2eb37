// AAC by the confined program mynah-media.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "audio/byte_sink.h"
#include "audio/sound_writer.h"

namespace mynah {

// Rates that AAC has: the samplingFrequencyIndex of ISO/IEC 14496-3, 1.6.3.4, without those that
// FFmpeg's encoder does not take.
[[nodiscard]] std::span<const int> media_writer_rates();

// AAC-LC in ADTS frames (ISO/IEC 14496-3, 1.A). `rate_hz` is one of media_writer_rates(); `program`
// as in SoundWriterOptions. Environment where mynah-media is not there.
Result<std::unique_ptr<SoundWriter>> make_media_writer(ByteSink& sink, int rate_hz,
                                                       const std::string& program);

}  // namespace mynah
