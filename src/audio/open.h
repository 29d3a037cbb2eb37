// Opens recordings of every kind: files, standard input, raw samples.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "audio/input_file.h"
#include "audio/source.h"
#include "base/result.h"

namespace mynah {

// How to read a recording.
struct AudioOpenOptions {
  int rate_hz = 16000;         // wanted: resampled with soxr where it differs
  std::optional<int> channel;  // 0-based; none: all channels mixed
  double start_s = 0;
  std::optional<double> duration_s;

  // Raw samples without a header.
  struct Raw {
    int rate_hz = 16000;
    int channels = 1;
    std::string encoding = "s16le";  // u8, s16le, s24le, s32le, f32le, f64le, mulaw, alaw
    uint32_t channel_mask = 0;  // the channels' speakers, a bit each (audio/speakers.h); 0: unknown
  };

  std::optional<Raw> raw;

  // The audio track to hear of a file that has several: its number, from 1, or codes of a language
  // with commas between ("de,deu,ger"). Empty: the best that can be decoded.
  std::string track{};

  // Takes what a user should know of the recording, one line to be read after its name: that it
  // holds other tracks, that its channels cancel each other. Called where it is opened and read.
  std::function<void(const std::string&)> note{};

  std::string media_program{};  // mynah-media; empty: beside this program, then in ../libexec
  std::string spool_folder = "/var/tmp";  // where a piped MP4 is kept while it is read

  std::stop_token stop{};  // ends the wait for sound that does not come: Cancelled
};

// Opens `path` ("-": standard input). libsndfile reads what it can in this process, but for MP3 and
// Ogg; everything else goes through the confined program mynah-media; so do containers that come
// through a pipe, but for a WAV's samples, which need no decoder and are given without delay.
//
// Errors, each one line with the name of the recording: NotFound (no such file), Io (not readable),
// InvalidInput (a folder, an empty file, no sound in it, a channel or a start that is not there),
// Environment (mynah-media is needed and missing). What is damaged or cut off shows while reading.
Result<std::unique_ptr<AudioSource>> open_audio(const std::string& path,
                                                const AudioOpenOptions& options);

// The same of what is open already.
Result<std::unique_ptr<AudioSource>> open_audio(InputFile input, const AudioOpenOptions& options);

}  // namespace mynah
