#include "audio/open.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "audio/headerless.h"
#include "audio/joined.h"
#include "audio/joined_reader.h"
#include "audio/media_reader.h"
#include "audio/mono_source.h"
#include "audio/raw_reader.h"
#include "audio/sndfile_reader.h"

namespace mynah {
namespace {

Result<std::unique_ptr<FrameReader>> open_file(InputFile input, const MediaOptions& media) {
  MYNAH_TRY_STATUS(refuse_headerless(input));
  MYNAH_TRY(auto unfinished, open_unfinished_wav(input));
  if (unfinished != nullptr) {
    return unfinished;
  }
  MYNAH_TRY(const InputFile whole, duplicate(input));
  auto reader = open_with_sndfile(input);
  if (reader && !media.track.empty() && media.track != "1") {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{} has one audio track without a language: wanted --track 1, found {}",
                            whole.name, media.track));
  }
  if (!reader && reader.error().code == ErrorCode::Unsupported) {
    // FFmpeg would take the tables of what was joined on for its own.
    MediaOptions first = media;
    first.bytes = look_behind(read_at_of(input.fd.get()), input.size_bytes, 0).next.value_or(0);
    reader = open_with_media(std::move(input), first);
  }
  if (!reader) {
    return reader;
  }
  return with_joined(std::move(*reader), whole, media);
}

Result<std::unique_ptr<FrameReader>> open_frames(InputFile input, const AudioOpenOptions& options) {
  if (options.raw) {
    return open_raw(std::move(input), *options.raw);
  }
  const MediaOptions media = {.program = options.media_program,
                              .spool_folder = options.spool_folder,
                              .start_s = options.start_s,
                              .track = options.track,
                              .note = options.note};
  if (input.seekable) {
    return open_file(std::move(input), media);
  }
  // libsndfile cannot read most formats without seeking; FFmpeg streams them.
  auto reader = open_wav_stream(input, options.note);
  if (!reader || *reader != nullptr) {
    return reader;
  }
  return open_with_media(std::move(input), media);
}

}  // namespace

Result<std::unique_ptr<AudioSource>> open_audio(const std::string& path,
                                                const AudioOpenOptions& options) {
  MYNAH_TRY(InputFile input, open_input_file(path, options.stop));
  return open_audio(std::move(input), options);
}

Result<std::unique_ptr<AudioSource>> open_audio(InputFile input, const AudioOpenOptions& options) {
  std::string name = input.name;
  MYNAH_TRY(std::unique_ptr<FrameReader> reader, open_frames(std::move(input), options));
  return MonoSource::create(std::move(reader), std::move(name), options);
}

}  // namespace mynah
