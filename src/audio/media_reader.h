// Frames of what only FFmpeg opens, read by the confined program mynah-media.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "audio/frame_reader.h"
#include "audio/input_file.h"
#include "base/result.h"

namespace mynah {

// How mynah-media is run.
struct MediaOptions {
  std::string program;                    // empty: searched for beside this program
  std::string spool_folder = "/var/tmp";  // where a piped MP4, whose index is at its end, is kept
  double start_s = 0;                     // where the reader means to begin: it may seek
  int64_t offset = 0;                     // byte of the file where the recording begins
  int64_t bytes = 0;                      // that it has; 0: all to the file\'s end
  // The audio track to hear: its number, from 1, or codes of a language with commas between. Empty:
  // the best one.
  std::string track{};
  // Takes what a user should know of the recording, one line to be read after its name.
  std::function<void(const std::string&)> note{};
  // Time on the processor that it may use before it has given any sound; every second of sound adds
  // one more.
  int cpu_s = 30;
  // How long it may give nothing, where it reads a file. A pipe may be silent for ever.
  std::chrono::milliseconds patience{60000};
};

// Finds mynah-media beside this program's file, then in ../libexec. Error: Environment.
Result<std::string> find_media_program();

// Starts mynah-media on `input` and reads up to the format.
Result<std::unique_ptr<FrameReader>> open_with_media(InputFile input, const MediaOptions& options);

}  // namespace mynah
