#include "cli/command/stream.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <sys/ioctl.h>
#include <unistd.h>

namespace mynah::cli {

namespace {

constexpr size_t kBufferBytes = 1 << 16;

}  // namespace

OutputStream::OutputStream(int fd) : fd_(fd), terminal_(::isatty(fd) == 1) {}

OutputStream::OutputStream() = default;

OutputStream::~OutputStream() {
  flush();
}

void OutputStream::write(std::string_view text) {
  const std::lock_guard lock(mutex_);
  write_held(text);
}

void OutputStream::write_held(std::string_view text) {
  if (error_ != 0) {
    return;
  }
  buffer_ += text;
  if (fd_ >= 0 && (buffer_.size() >= kBufferBytes || (terminal_ && text.ends_with('\n')))) {
    flush_held();
  }
}

void OutputStream::line(std::string_view text) {
  const std::lock_guard lock(mutex_);
  write_held(text);
  write_held("\n");
}

void OutputStream::flush() {
  const std::lock_guard lock(mutex_);
  flush_held();
}

void OutputStream::flush_held() {
  if (fd_ < 0) {
    return;
  }
  std::string_view rest = buffer_;
  while (!rest.empty() && error_ == 0) {
    const ssize_t written = ::write(fd_, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  buffer_.clear();
}

bool OutputStream::closed() const {
  return error_ == EPIPE;
}

int OutputStream::columns() const {
  winsize size{};
  if (fd_ >= 0 && ::ioctl(fd_, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return size.ws_col;
  }
  return 80;
}

InputStream::InputStream(int fd) : fd_(fd), terminal_(::isatty(fd) == 1) {}

InputStream::InputStream(std::string answers) : terminal_(true), text_(std::move(answers)) {}

std::optional<std::string> InputStream::read_line() {
  // Byte by byte from a descriptor: what follows the line belongs to whoever reads next.
  std::string line;
  if (fd_ < 0) {
    if (text_.empty()) {
      return std::nullopt;
    }
    const size_t end = text_.find('\n');
    line = text_.substr(0, end);
    text_.erase(0, end == std::string::npos ? end : end + 1);
    return line;
  }
  char byte = 0;
  while (true) {
    const ssize_t got = ::read(fd_, &byte, 1);
    if (got == 0 || (got < 0 && errno != EINTR)) {
      return line.empty() ? std::nullopt : std::optional(line);
    }
    if (got == 1) {
      if (byte == '\n') {
        return line;
      }
      line += byte;
    }
  }
}

std::string InputStream::read_to_end(size_t most) {
  std::string text = std::move(text_);
  text_.clear();
  const auto keep_end = [&] { text.erase(0, text.size() - std::min(text.size(), most)); };
  std::string block(kBufferBytes, '\0');
  while (fd_ >= 0) {
    const ssize_t got = ::read(fd_, block.data(), block.size());
    if (got == 0 || (got < 0 && errno != EINTR)) {
      break;
    }
    text.append(block, 0, static_cast<size_t>(std::max<ssize_t>(got, 0)));
    // Seldom, since all that stays is moved.
    if (text.size() > 2 * most + kBufferBytes) {
      keep_end();
    }
  }
  keep_end();
  return text;
}

}  // namespace mynah::cli
