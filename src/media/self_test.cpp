#include "media/self_test.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

namespace mynah::media {
namespace {

constexpr int kStopped = 0;
constexpr int kSucceeded = 9;
constexpr int kUnknown = 2;

int take_memory() {
  constexpr size_t kStep = size_t{16} << 20U;
  constexpr int kSteps = 256;  // 4 GiB
  // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): nothing is given back, until a limit stops it
  for (int i = 0; i < kSteps; ++i) {
    void* block = std::malloc(kStep);
    if (block == nullptr) {
      return kStopped;
    }
    std::memset(block, 1, kStep);
  }
  return kSucceeded;
}

[[noreturn]] void spin() {
  for (std::atomic<unsigned> turns = 0;; ++turns) {
  }
}

}  // namespace

int try_forbidden(std::string_view what) {
  if (what == "open") {
    return ::open("/etc/hostname", O_RDONLY | O_CLOEXEC) >= 0 ? kSucceeded : kStopped;
  }
  if (what == "socket") {
    return ::socket(AF_INET, SOCK_STREAM, 0) >= 0 ? kSucceeded : kStopped;
  }
  if (what == "exec") {
    ::execl("/bin/true", "true", nullptr);
    return kStopped;
  }
  if (what == "fork") {
    return ::fork() >= 0 ? kSucceeded : kStopped;
  }
  if (what == "executable") {
    constexpr size_t kPage = 4096;
    void* page = ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE | PROT_EXEC,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return page != MAP_FAILED ? kSucceeded : kStopped;
  }
  if (what == "memory") {
    return take_memory();
  }
  if (what == "spin") {
    spin();
  }
  return kUnknown;
}

}  // namespace mynah::media
