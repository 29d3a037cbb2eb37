#include "media/byte_input.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

extern "C" {
#include <libavutil/error.h>
#include <libavutil/mem.h>
}

#include "audio/joined.h"
#include "audio/media_protocol.h"

namespace mynah::media {
namespace {

constexpr int kBufferBytes = 1 << 15;
constexpr size_t kHeadBytes = 12;
constexpr std::string_view kOgg = "OggS";

// The first box of an MP4 or QuickTime file (ISO/IEC 14496-12): its size, then one of these types.
// Or an AVI or a Core Audio file. What tells of the packets stands mostly behind them.
bool has_index_behind(const std::vector<uint8_t>& head) {
  if (head.size() < 8) {
    return false;
  }
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  constexpr std::array<std::string_view, 6> kTypes = {"ftyp", "moov", "mdat",
                                                      "wide", "free", "skip"};
  return std::ranges::find(kTypes, text.substr(4, 4)) != kTypes.end() || text.starts_with("caff") ||
         (text.starts_with("RIFF") && text.ends_with("AVI "));
}

bool write_all(int fd, const uint8_t* data, size_t size) {
  while (size > 0) {
    const ssize_t wrote = ::write(fd, data, size);
    if (wrote < 0 && errno == EINTR) {
      continue;
    }
    if (wrote <= 0) {
      return false;
    }
    data += wrote;
    size -= static_cast<size_t>(wrote);
  }
  return true;
}

}  // namespace

ByteInput::ByteInput(int64_t offset, int64_t bytes) : fd_(kMediaInputFd) {
  struct stat info{};
  seekable_ = ::fstat(fd_, &info) == 0 && S_ISREG(info.st_mode);
  if (seekable_) {
    base_ = std::clamp<int64_t>(offset, 0, info.st_size);
    size_bytes_ = info.st_size - base_;
    if (bytes > 0) {
      size_bytes_ = std::min(size_bytes_, bytes);
    }
    ::lseek(fd_, base_, SEEK_SET);
  }
  has_spool_ = ::fcntl(kMediaSpoolFd, F_GETFD) >= 0;
  has_head_ = ::fcntl(kMediaHeadFd, F_GETFD) >= 0;
}

ByteInput::~ByteInput() {
  free_context();
}

void ByteInput::free_context() {
  if (context_ != nullptr) {
    av_freep(static_cast<void*>(&context_->buffer));
    avio_context_free(&context_);
  }
}

std::string ByteInput::open(std::function<void()> before_wait) {
  before_wait_ = std::move(before_wait);
  const auto at = [this](int64_t offset, std::span<std::byte> out) { return read_at(offset, out); };
  if (seekable_ && is_chained(at, size_bytes_)) {
    seekable_ = false;  // its recordings are read one after the other, as they come
    size_bytes_ = 0;
    ::lseek(fd_, base_, SEEK_SET);
  }
  if (!seekable_) {
    if (!read_head()) {
      return "is empty (0 bytes), wanted a recording";
    }
    if (has_index_behind(head_)) {
      if (std::string error = spool(); !error.empty()) {
        return error;
      }
      end_at_next();
    }
    is_ogg_ = !seekable_ && head_.size() >= kOgg.size() &&
              std::equal(kOgg.begin(), kOgg.end(), head_.begin());
  }
  return make_context();
}

std::string ByteInput::make_context() {
  auto* buffer = static_cast<unsigned char*>(av_malloc(kBufferBytes));
  if (buffer != nullptr) {
    context_ = avio_alloc_context(buffer, kBufferBytes, 0, this, read_packet, nullptr, seek);
  }
  if (context_ == nullptr) {
    av_free(buffer);
    return "cannot be read: no memory";
  }
  context_->seekable = seekable_ ? AVIO_SEEKABLE_NORMAL : 0;
  return {};
}

// Of what was kept on disk: ends the recording where another begins.
void ByteInput::end_at_next() {
  const auto at = [this](int64_t offset, std::span<std::byte> out) { return read_at(offset, out); };
  const Behind behind = look_behind(at, size_bytes_, 0);
  behind_bytes_ = behind.next ? size_bytes_ - *behind.next : 0;
  unknown_bytes_ = behind.unknown_bytes;
  size_bytes_ -= behind_bytes_;
  ::lseek(fd_, base_, SEEK_SET);
}

bool ByteInput::has_rest() {
  constexpr int64_t kLeast = 4096;
  if (seekable_ || is_ogg_) {
    return unknown_bytes_ >= kLeast;
  }
  int64_t rest = context_ == nullptr ? 0 : context_->buf_end - context_->buf_ptr;
  std::vector<uint8_t> block(kBufferBytes);
  while (rest < kLeast) {
    const int got = read(block.data(), kBufferBytes);
    if (got <= 0) {
      return false;
    }
    rest += got;
  }
  return true;
}

bool ByteInput::next_link() {
  if (behind_bytes_ > 0) {
    base_ += size_bytes_;
    size_bytes_ = std::exchange(behind_bytes_, 0);
    end_at_next();
    free_context();
    return make_context().empty();
  }
  if (!is_ogg_) {
    return false;
  }
  // What FFmpeg left of this recording.
  std::vector<uint8_t> rest(kBufferBytes);
  while (!link_ended_ && read(rest.data(), kBufferBytes) > 0) {
  }
  if (!std::exchange(link_ended_, false)) {
    return false;
  }
  cutter_.begin();
  free_context();
  return make_context().empty();
}

// Fills head_, first with what mynah read of the pipe; false: it ended before the first byte.
bool ByteInput::read_head() {
  if (has_head_) {
    look_at(kMediaHeadFd, kMostMediaHeadBytes);
  }
  look_at(fd_, kHeadBytes);
  return !head_.empty();
}

// Reads until head_ has so many bytes, or `fd` has no more.
void ByteInput::look_at(int fd, size_t bytes) {
  size_t held = head_.size();
  head_.resize(std::max(bytes, held));
  while (held < bytes) {
    const ssize_t got = ::read(fd, head_.data() + held, bytes - held);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      break;
    }
    held += static_cast<size_t>(got);
  }
  head_.resize(held);
}

std::string ByteInput::spool() {
  if (!has_spool_) {
    return "has its index at its end: from a pipe it must be kept on disk while it is read, and no "
           "folder for that can be written: give it as a file";
  }
  std::vector<uint8_t> block(kBufferBytes);
  while (const int got = read(block.data(), kBufferBytes)) {
    if (got == AVERROR_EOF) {
      break;
    }
    if (got < 0 || !write_all(kMediaSpoolFd, block.data(), static_cast<size_t>(got))) {
      return std::string(
                 "has its index at its end, and could not be kept on disk while it is read "
                 "from a pipe: ") +
             std::strerror(errno);
    }
    size_bytes_ += got;
  }
  base_ = 0;
  fd_ = kMediaSpoolFd;
  seekable_ = true;
  ::lseek(fd_, 0, SEEK_SET);
  return {};
}

int ByteInput::read_input(uint8_t* out, int size) {
  if (!head_.empty()) {
    const auto count = std::min(head_.size(), static_cast<size_t>(size));
    std::copy_n(head_.begin(), count, out);
    head_.erase(head_.begin(), head_.begin() + static_cast<std::ptrdiff_t>(count));
    return static_cast<int>(count);
  }
  if (!seekable_) {
    before_wait_();
  }
  if (seekable_) {
    const int64_t left = base_ + size_bytes_ - ::lseek(fd_, 0, SEEK_CUR);
    size = static_cast<int>(std::clamp<int64_t>(left, 0, size));
  }
  for (;;) {
    const ssize_t got = ::read(fd_, out, static_cast<size_t>(size));
    if (got > 0) {
      return static_cast<int>(got);
    }
    if (got == 0) {
      return AVERROR_EOF;
    }
    if (errno != EINTR) {
      return AVERROR(errno);
    }
  }
}

int ByteInput::read(uint8_t* out, int size) {
  return is_ogg_ ? read_link(out, size) : read_input(out, size);
}

// Reads no further than to the end of this Ogg recording.
int ByteInput::read_link(uint8_t* out, int size) {
  if (link_ended_) {
    return AVERROR_EOF;
  }
  const auto room = static_cast<size_t>(size);
  size_t held = 0;
  for (;;) {
    const int got = held < room ? read_input(out + held, size - static_cast<int>(held)) : 0;
    if (got < 0 && held == 0) {
      return got;
    }
    const bool more_comes = got > 0;
    held += more_comes ? static_cast<size_t>(got) : 0;
    const OggCutter::Step step = cutter_.take({out, held});
    if (step.needs_more && step.bytes == 0 && more_comes) {
      continue;
    }
    link_ended_ = step.ends;
    // At the end of all, the beginning of a header belongs to what is there.
    const size_t given = step.needs_more && !more_comes ? held : step.bytes;
    head_.insert(head_.begin(), out + given, out + held);
    return given > 0 ? static_cast<int>(given) : AVERROR_EOF;
  }
}

int ByteInput::read_watched(uint8_t* out, int size) {
  const int got = read(out, size);
  if (got > 0 && take_) {
    take_({out, static_cast<size_t>(got)});
  }
  return got;
}

void ByteInput::read_all() {
  if (seekable_ && ::lseek(fd_, base_, SEEK_SET) != base_) {
    return;
  }
  std::vector<uint8_t> block(kBufferBytes);
  while (read_watched(block.data(), kBufferBytes) > 0) {
  }
}

bool ByteInput::rewind() {
  return seekable_ && avio_seek(context_, 0, SEEK_SET) == 0;
}

size_t ByteInput::read_at(int64_t offset, std::span<std::byte> out) {
  const int64_t before = ::lseek(fd_, 0, SEEK_CUR);
  size_t filled = 0;
  if (before >= 0 && ::lseek(fd_, base_ + offset, SEEK_SET) == base_ + offset) {
    while (filled < out.size()) {
      const ssize_t got = ::read(fd_, out.data() + filled, out.size() - filled);
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got <= 0) {
        break;
      }
      filled += static_cast<size_t>(got);
    }
  }
  ::lseek(fd_, before, SEEK_SET);
  return filled;
}

int ByteInput::read_packet(void* self, uint8_t* out, int size) {
  auto* input = static_cast<ByteInput*>(self);
  return input->seekable_ ? input->read(out, size) : input->read_watched(out, size);
}

int64_t ByteInput::seek(void* self, int64_t offset, int whence) {
  auto* input = static_cast<ByteInput*>(self);
  whence &= ~AVSEEK_FORCE;
  if (whence == AVSEEK_SIZE) {
    // 0 for a pipe: FFmpeg's MP3 demuxer takes an error for a size that is far too large, and then
    // no longer believes the header's count of frames.
    return input->size_bytes_;
  }
  if (!input->seekable_) {
    return AVERROR(ESPIPE);
  }
  if (whence == SEEK_SET) {
    offset += input->base_;
  }
  const int64_t at = ::lseek(input->fd_, offset, whence);
  return at < 0 ? AVERROR(errno) : at - input->base_;
}

}  // namespace mynah::media
