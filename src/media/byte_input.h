// ByteInput: the recording's bytes as FFmpeg asks for them, from a file or a pipe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

extern "C" {
#include <libavformat/avio.h>
}

#include "media/ogg_cutter.h"

namespace mynah::media {

// Reads kMediaInputFd. A file can be sought in. A pipe cannot, and is read as it comes, unless it
// brings an MP4, an AVI or a CAF, whose index is mostly at its end: that is copied to the spool
// first.
class ByteInput {
 public:
  // Asks what the input is; before confine(), as it needs calls that are taken away.
  // `offset`: byte of a file where the recording begins; `bytes`: its length, 0 for all there are.
  ByteInput(int64_t offset, int64_t bytes);

  ByteInput(const ByteInput&) = delete;
  ByteInput& operator=(const ByteInput&) = delete;
  ~ByteInput();

  // Looks at the first bytes and makes the context. `before_wait` is called before every read that
  // may wait for a pipe. Returns what is wrong, to be read after the
  // recording's name, or nothing.
  std::string open(std::function<void()> before_wait);

  // Calls `take` with all bytes of the recording in order: those of a pipe as FFmpeg asks for them,
  // those of a file in read_all().
  void watch(std::function<void(std::span<const uint8_t>)> take) { take_ = std::move(take); }

  // Reads a file once more, from its first byte to its last; FFmpeg may have skipped some. Of a
  // pipe, what FFmpeg left.
  void read_all();

  // Goes on to the recording that was joined on behind the one that has been read: an Ogg, or
  // what lies behind one that was kept on disk; false: there is none.
  bool next_link();

  // Whether more than the remainder of a tag follows what was read of a pipe.
  bool has_rest();

  // Goes back to the first byte of a file; false for a pipe.
  bool rewind();

  // Bytes of what can be sought in; else 0.
  [[nodiscard]] int64_t size_bytes() const { return size_bytes_; }

  // Reads from an offset of what can be sought in, and comes back; returns how many bytes there
  // were.
  size_t read_at(int64_t offset, std::span<std::byte> out);

  [[nodiscard]] AVIOContext* context() const { return context_; }

  [[nodiscard]] bool seekable() const { return seekable_; }

 private:
  static int read_packet(void* self, uint8_t* out, int size);
  static int64_t seek(void* self, int64_t offset, int whence);

  int read(uint8_t* out, int size);
  int read_input(uint8_t* out, int size);
  int read_link(uint8_t* out, int size);
  int read_watched(uint8_t* out, int size);
  std::string make_context();
  void free_context();
  bool read_head();
  void look_at(int fd, size_t bytes);
  std::string spool();
  void end_at_next();

  int fd_;
  bool seekable_ = false;
  bool has_spool_ = false;
  bool has_head_ = false;
  int64_t base_ = 0;  // byte of the file where the recording begins
  int64_t size_bytes_ = 0;
  int64_t behind_bytes_ = 0;   // of recordings that were joined on behind it
  int64_t unknown_bytes_ = 0;  // behind it, of no recording
  bool is_ogg_ = false;        // that is read as it comes
  bool link_ended_ = false;    // another recording begins with head_
  OggCutter cutter_;
  std::vector<uint8_t> head_;  // of a pipe: bytes looked at and not yet given
  std::function<void()> before_wait_;
  std::function<void(std::span<const uint8_t>)> take_;
  AVIOContext* context_ = nullptr;
};

}  // namespace mynah::media
