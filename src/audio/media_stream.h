// MediaStream: reads what mynah-media writes, and believes none of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "audio/media_protocol.h"
#include "audio/speakers.h"
#include "base/result.h"

namespace mynah {

// Where bytes come from: a pipe, or memory in a fuzzer.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Fills `out` from its front; 0 at the end.
  virtual Result<size_t> read(std::span<std::byte> out) = 0;
};

// mynah-media parses hostile files, so by assumption its output is hostile too: every number is
// checked, text is cleaned of what a terminal would obey, and nothing is allocated by its say.
class MediaStream {
 public:
  // `note` takes what a user should know of the recording; it may be empty.
  explicit MediaStream(std::unique_ptr<ByteSource> bytes,
                       std::function<void(const std::string&)> note = {})
      : bytes_(std::move(bytes)), note_(std::move(note)) {}

  // Reads up to the format, before the frames. An error that mynah-media reports is InvalidInput
  // with its text (to be read after the recording's name); a stream that breaks the protocol or
  // ends too early is Io.
  Result<MediaFormat> read_format();

  // The speaker of each channel of that format; empty: not known.
  [[nodiscard]] const std::vector<Speaker>& speakers() const { return speakers_; }

  // Fills `out` with frames; 0 at the end of this recording.
  Result<size_t> read_frames(std::span<float> out);

  // Whether another recording follows the one that has ended: read_format() comes next.
  [[nodiscard]] bool has_next() const { return ending_ == MediaKind::Next; }

  // Frames that were given and not told as silence.
  [[nodiscard]] int64_t sound_frames() const { return sound_frames_; }

 private:
  Status read_exactly(std::span<std::byte> out);
  Result<MediaHeader> read_header();
  Status next_data();
  Status take_silence(uint32_t bytes);
  Status take_note(uint32_t bytes);
  Result<std::string> read_text(uint32_t bytes);
  Error read_error(uint32_t bytes);

  std::unique_ptr<ByteSource> bytes_;
  std::function<void(const std::string&)> note_;
  std::vector<Speaker> speakers_;
  uint32_t rate_hz_ = 0;
  size_t frame_bytes_ = 0;
  size_t data_left_ = 0;      // bytes of the current data message
  int64_t silence_left_ = 0;  // frames of the current silence
  double silence_s_ = 0;      // told in all
  int64_t sound_frames_ = 0;
  int notes_ = 0;
  std::optional<MediaKind> ending_;  // of this recording, once it came
};

}  // namespace mynah
