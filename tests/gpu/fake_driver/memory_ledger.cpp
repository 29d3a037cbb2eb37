#include "memory_ledger.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mynah::gpu::fake {
namespace {

struct Entry {
  pid_t pid = 0;
  unsigned card = 0;
  uint64_t bytes = 0;
};

// What has ended and is not waited for yet holds no memory any more: its files are closed.
bool is_alive(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  const std::string text(std::istreambuf_iterator<char>(file), {});
  // "PID (NAME) STATE ...", where a name may hold anything (proc(5)).
  const size_t name_end = text.rfind(") ");
  if (name_end == std::string::npos || name_end + 2 >= text.size()) {
    return false;
  }
  const char state = text[name_end + 2];
  return state != 'Z' && state != 'X';
}

std::vector<Entry> read_entries(const std::string& text) {
  std::vector<Entry> entries;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    Entry entry;
    if (words >> entry.pid >> std::hex >> entry.card >> std::dec >> entry.bytes &&
        is_alive(entry.pid)) {
      entries.push_back(entry);
    }
  }
  return entries;
}

// The file, open and locked.
class LockedFile {
 public:
  explicit LockedFile(const std::string& path)
      : fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    while (fd_ >= 0 && ::flock(fd_, LOCK_EX) != 0) {
      if (errno != EINTR) {
        ::close(fd_);
        fd_ = -1;
      }
    }
  }

  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;

  ~LockedFile() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }

  [[nodiscard]] bool is_open() const { return fd_ >= 0; }

  [[nodiscard]] bool read(std::string* text) const {
    struct stat found{};
    if (::fstat(fd_, &found) != 0) {
      return false;
    }
    text->resize(static_cast<size_t>(found.st_size));
    return ::pread(fd_, text->data(), text->size(), 0) == static_cast<ssize_t>(text->size());
  }

  // In one call, and never shorter than it was: a process that is killed here leaves no half.
  [[nodiscard]] bool write(std::string text, size_t least_bytes) const {
    text.resize(std::max(text.size(), least_bytes), '\n');
    return ::pwrite(fd_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
  }

 private:
  int fd_;
};

// Calls look(entries), which says whether it changed them, with the file locked.
template <class Look>
bool with_entries(const std::string& path, Look look) {
  const LockedFile file(path);
  std::string text;
  if (!file.is_open() || !file.read(&text)) {
    return false;
  }
  std::vector<Entry> entries = read_entries(text);
  if (!look(entries)) {
    return true;
  }
  std::string written;
  for (const Entry& entry : entries) {
    written += fmt::format("{} {:02x} {}\n", entry.pid, entry.card, entry.bytes);
  }
  return file.write(std::move(written), text.size());
}

// A fake card whose memory is not known is of no use to any test.
void must(bool worked, const std::string& path) {
  if (!worked) {
    fmt::print(stderr, "fake driver: MYNAH_FAKE_MEMORY_FILE: {}: {}\n", path, std::strerror(errno));
    std::abort();
  }
}

uint64_t bytes_of_others(const std::vector<Entry>& entries, uint8_t card) {
  uint64_t bytes = 0;
  for (const Entry& entry : entries) {
    bytes += entry.pid != ::getpid() && entry.card == card ? entry.bytes : 0;
  }
  return bytes;
}

void replace_ours(std::vector<Entry>& entries, uint8_t card, uint64_t bytes) {
  std::erase_if(entries,
                [&](const Entry& entry) { return entry.pid == ::getpid() && entry.card == card; });
  if (bytes > 0) {
    entries.push_back({.pid = ::getpid(), .card = card, .bytes = bytes});
  }
}

}  // namespace

Status MemoryLedger::check() const {
  if (!with_entries(path_, [](const auto&) { return false; })) {
    return fail(ErrorCode::Io,
                fmt::format("{} cannot be read and written: {}", path_, std::strerror(errno)));
  }
  return {};
}

uint64_t MemoryLedger::held_by_others(uint8_t card) const {
  uint64_t bytes = 0;
  must(with_entries(path_,
                    [&](const auto& entries) {
                      bytes = bytes_of_others(entries, card);
                      return false;
                    }),
       path_);
  return bytes;
}

bool MemoryLedger::hold(uint8_t card, uint64_t bytes, uint64_t room) {
  bool fits = false;
  must(with_entries(path_,
                    [&](auto& entries) {
                      const uint64_t others = bytes_of_others(entries, card);
                      fits = others <= room && bytes <= room - others;
                      if (fits) {
                        replace_ours(entries, card, bytes);
                      }
                      return fits;
                    }),
       path_);
  return fits;
}

void MemoryLedger::note(uint8_t card, uint64_t bytes) {
  must(with_entries(path_,
                    [&](auto& entries) {
                      replace_ours(entries, card, bytes);
                      return true;
                    }),
       path_);
}

void MemoryLedger::forget() {
  must(with_entries(path_,
                    [&](auto& entries) {
                      std::erase_if(entries,
                                    [](const Entry& entry) { return entry.pid == ::getpid(); });
                      return true;
                    }),
       path_);
}

}  // namespace mynah::gpu::fake
