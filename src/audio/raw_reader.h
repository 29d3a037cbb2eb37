// Frames of samples without a header.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "audio/frame_reader.h"
#include "audio/input_file.h"
#include "audio/open.h"
#include "base/result.h"

namespace mynah {

// Reads the bytes of `input` as `raw` says. From a pipe, frames are given as they come in.
// `sample_bytes`: so many are samples, as a header promised, and what follows them is not; fewer
// are an error after the last whole frame. None: all there are.
Result<std::unique_ptr<FrameReader>> open_raw(InputFile input, const AudioOpenOptions::Raw& raw,
                                              std::optional<int64_t> sample_bytes = std::nullopt);

// Reads the header of a WAV that comes through a pipe, and then its samples as they come in.
// FFmpeg would wait for two seconds of sound, as a WAV may hide S/PDIF. Gives no reader where it is
// something else; input.head then has what was read of it. WAVs that were joined on are read, too;
// another recording is a note (AudioOpenOptions::note).
Result<std::unique_ptr<FrameReader>> open_wav_stream(InputFile& input,
                                                     std::function<void(const std::string&)> note);

// The samples of a WAV file whose recorder did not come to write its sizes: it crashed, or lost its
// power. Gives no reader where the file says how long it is, or holds no samples that open_raw()
// can decode.
Result<std::unique_ptr<FrameReader>> open_unfinished_wav(InputFile& input);

}  // namespace mynah
