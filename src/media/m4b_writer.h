// An audio book: AAC in MP4, with chapters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "media/aac_encoder.h"
#include "media/av_handles.h"

namespace mynah::media {

// Writes to kMediaOutputFd, a file that can be sought in. Title, author and chapters come from
// kMediaSpoolFd, a line each: "title TEXT", "artist TEXT", "language CODE" (ISO 639-2), "chapter
// FROM_MS TO_MS TEXT".
class M4bWriter {
 public:
  M4bWriter() = default;
  M4bWriter(const M4bWriter&) = delete;
  M4bWriter& operator=(const M4bWriter&) = delete;
  ~M4bWriter();

  // Reads the lines and makes the container's parts; before confine().
  bool open(const AVCodecContext& codec);

  // Writes the header, whose chapters players show.
  bool begin();
  bool write(AVPacket& packet);
  bool finish();

 private:
  bool read_tags();
  bool add_tag(const std::string& line);
  bool add_chapter(int64_t from_ms, int64_t to_ms, const std::string& title);

  AvHandle<AVFormatContext> format_;
  AVIOContext* io_ = nullptr;
  AVStream* stream_ = nullptr;
  AVRational time_base_{};
};

}  // namespace mynah::media
