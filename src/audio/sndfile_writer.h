// FLAC, MP3 and Opus by libsndfile.
#pragma once

#include <memory>

#include "audio/byte_sink.h"
#include "audio/sound_writer.h"

namespace mynah {

// Rates that libsndfile takes for a format: MPEG-1, 2 and 2.5's, Opus's; none said: any.
[[nodiscard]] std::span<const int> sndfile_rates(SoundFormat format);

// `rate_hz` is one of sndfile_rates(). Environment where libsndfile was built without the format.
Result<std::unique_ptr<SoundWriter>> make_sndfile_writer(ByteSink& sink, SoundFormat format,
                                                         int rate_hz);

}  // namespace mynah
