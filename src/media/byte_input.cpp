#include "media/byte_input.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

extern "C" {
#include <libavutil/error.h>
#include <libavutil/mem.h>
}

#include "audio/media_protocol.h"

namespace mynah::media {
namespace {

constexpr int kBufferBytes = 1 << 15;
constexpr size_t kHeadBytes = 12;

// The first box of an MP4 or QuickTime file (ISO/IEC 14496-12): its size, then one of these types.
bool is_mp4(const std::vector<uint8_t>& head) {
  if (head.size() < 8) {
    return false;
  }
  const std::string_view type(reinterpret_cast<const char*>(head.data()) + 4, 4);
  constexpr std::array<std::string_view, 6> kTypes = {"ftyp", "moov", "mdat",
                                                      "wide", "free", "skip"};
  return std::ranges::find(kTypes, type) != kTypes.end();
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

ByteInput::ByteInput() : fd_(kMediaInputFd) {
  struct stat info{};
  seekable_ = ::fstat(fd_, &info) == 0 && S_ISREG(info.st_mode);
  size_bytes_ = seekable_ ? info.st_size : 0;
  has_spool_ = ::fcntl(kMediaSpoolFd, F_GETFD) >= 0;
  has_head_ = ::fcntl(kMediaHeadFd, F_GETFD) >= 0;
}

ByteInput::~ByteInput() {
  if (context_ != nullptr) {
    av_freep(static_cast<void*>(&context_->buffer));
    avio_context_free(&context_);
  }
}

std::string ByteInput::open(std::function<void()> before_wait) {
  before_wait_ = std::move(before_wait);
  if (!seekable_) {
    if (!read_head()) {
      return "is empty (0 bytes), wanted a recording";
    }
    if (is_mp4(head_)) {
      if (std::string error = spool(); !error.empty()) {
        return error;
      }
    }
  }
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
    return "an MP4 from a pipe must be kept on disk while it is read, and no folder for that can "
           "be "
           "written: give it as a file";
  }
  std::vector<uint8_t> block(kBufferBytes);
  while (const int got = read(block.data(), kBufferBytes)) {
    if (got == AVERROR_EOF) {
      break;
    }
    if (got < 0 || !write_all(kMediaSpoolFd, block.data(), static_cast<size_t>(got))) {
      return std::string("is an MP4 from a pipe and could not be kept on disk while it is read: ") +
             std::strerror(errno);
    }
    size_bytes_ += got;
  }
  fd_ = kMediaSpoolFd;
  seekable_ = true;
  ::lseek(fd_, 0, SEEK_SET);
  return {};
}

int ByteInput::read(uint8_t* out, int size) {
  if (!head_.empty()) {
    const auto count = std::min(head_.size(), static_cast<size_t>(size));
    std::copy_n(head_.begin(), count, out);
    head_.erase(head_.begin(), head_.begin() + static_cast<std::ptrdiff_t>(count));
    return static_cast<int>(count);
  }
  if (!seekable_) {
    before_wait_();
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

int ByteInput::read_watched(uint8_t* out, int size) {
  const int got = read(out, size);
  if (got > 0 && take_) {
    take_({out, static_cast<size_t>(got)});
  }
  return got;
}

void ByteInput::read_all() {
  if (seekable_ && ::lseek(fd_, 0, SEEK_SET) != 0) {
    return;
  }
  std::vector<uint8_t> block(kBufferBytes);
  while (read_watched(block.data(), kBufferBytes) > 0) {
  }
}

size_t ByteInput::read_at(int64_t offset, std::span<std::byte> out) {
  const int64_t before = ::lseek(fd_, 0, SEEK_CUR);
  size_t filled = 0;
  if (before >= 0 && ::lseek(fd_, offset, SEEK_SET) == offset) {
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
  const int64_t at = ::lseek(input->fd_, offset, whence);
  return at < 0 ? AVERROR(errno) : at;
}

}  // namespace mynah::media
