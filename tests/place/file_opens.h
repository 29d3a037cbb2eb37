// How often a file is opened: what a start reads.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

namespace mynah::place::test {

// Counts how often a file is opened while this lives.
class FileOpens {
 public:
  explicit FileOpens(const std::string& path) {
    EXPECT_GE(::inotify_add_watch(queue_, path.c_str(), IN_OPEN), 0);
  }

  ~FileOpens() { ::close(queue_); }

  FileOpens(const FileOpens&) = delete;
  FileOpens& operator=(const FileOpens&) = delete;

  // Since it was asked last.
  [[nodiscard]] size_t count() const {
    std::vector<std::byte> events(1 << 16);
    const ssize_t bytes = ::read(queue_, events.data(), events.size());
    return bytes > 0 ? static_cast<size_t>(bytes) / sizeof(inotify_event) : 0;
  }

 private:
  int queue_ = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
};

}  // namespace mynah::place::test
