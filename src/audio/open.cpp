#include "audio/open.h"

#include <memory>
#include <utility>

#include "audio/input_file.h"
#include "audio/media_reader.h"
#include "audio/mono_source.h"
#include "audio/raw_reader.h"
#include "audio/sndfile_reader.h"

namespace mynah {
namespace {

Result<std::unique_ptr<FrameReader>> open_frames(InputFile input, const AudioOpenOptions& options) {
  if (options.raw) {
    return open_raw(std::move(input), *options.raw);
  }
  // libsndfile cannot read most formats without seeking; FFmpeg streams them.
  if (input.seekable) {
    auto reader = open_with_sndfile(input);
    if (reader || reader.error().code != ErrorCode::Unsupported) {
      return reader;
    }
  } else {
    auto reader = open_wav_stream(input);
    if (!reader || *reader != nullptr) {
      return reader;
    }
  }
  return open_with_media(std::move(input), {.program = options.media_program,
                                            .spool_folder = options.spool_folder,
                                            .start_s = options.start_s,
                                            .track = options.track,
                                            .note = options.note});
}

}  // namespace

Result<std::unique_ptr<AudioSource>> open_audio(const std::string& path,
                                                const AudioOpenOptions& options) {
  MYNAH_TRY(InputFile input, open_input_file(path, options.stop));
  std::string name = input.name;
  MYNAH_TRY(std::unique_ptr<FrameReader> reader, open_frames(std::move(input), options));
  return MonoSource::create(std::move(reader), std::move(name), options);
}

}  // namespace mynah
