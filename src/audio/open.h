// Opens recordings of every kind: files, standard input, raw samples.
#pragma once

#include <memory>
#include <optional>
#include <string>

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
    std::string encoding = "s16le";  // u8, s16le, s24le, s32le, f32le, mulaw, alaw
  };

  std::optional<Raw> raw;
};

// Opens `path` ("-": standard input). libsndfile reads what it can in this process; everything else
// goes through the confined program mynah-media.
Result<std::unique_ptr<AudioSource>> open_audio(const std::string& path,
                                                const AudioOpenOptions& options);

}  // namespace mynah
