// MediaStream: reads what mynah-media writes, and believes none of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "audio/media_protocol.h"
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
  explicit MediaStream(std::unique_ptr<ByteSource> bytes) : bytes_(std::move(bytes)) {}

  // Reads up to the format, once, before the frames. An error that mynah-media reports is
  // InvalidInput with its text (to be read after the recording's name); a stream that breaks the
  // protocol or ends too early is Io.
  Result<MediaFormat> read_format();

  // Fills `out` with frames; 0 at the end.
  Result<size_t> read_frames(std::span<float> out);

 private:
  Status read_exactly(std::span<std::byte> out);
  Result<MediaHeader> read_header();
  Status next_data();
  Error read_error(uint32_t bytes);

  std::unique_ptr<ByteSource> bytes_;
  size_t frame_bytes_ = 0;
  size_t data_left_ = 0;  // bytes of the current data message
  bool ended_ = false;
};

}  // namespace mynah
