#include "media/self_test.h"

#include <array>
#include <atomic>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <cwchar>

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/utsname.h>
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

// What the C library and decoders' libraries ask for when they are first used: each is answered, if
// only with an error, and the process goes on.
int ask_late() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  ::localtime_r(&now, &parts);
  std::array<char, 64> text{};
  std::strftime(text.data(), text.size(), "%c %Z", &parts);
  std::setlocale(LC_ALL, "de_DE.UTF-8");  // NOLINT(concurrency-mt-unsafe): the only thread
  std::mbstate_t state{};
  wchar_t wide = 0;
  std::mbrtowc(&wide, "a", 1, &state);
  ::sysconf(_SC_NPROCESSORS_ONLN);
  ::sysconf(_SC_PHYS_PAGES);
  ::getrandom(text.data(), text.size(), 0);
  utsname system{};
  ::uname(&system);
  const timespec brief{.tv_sec = 0, .tv_nsec = 1000};
  ::nanosleep(&brief, nullptr);
  std::fputs("to a standard error that is not there\n", stderr);
  if (std::FILE* const opened = std::fopen("/dev/urandom", "rb"); opened != nullptr) {
    std::fclose(opened);
    return kSucceeded;
  }
  pthread_t thread{};
  const auto idle = [](void* nothing) { return nothing; };
  return ::pthread_create(&thread, nullptr, idle, nullptr) == 0 ? kSucceeded : kStopped;
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
  if (what == "late") {
    return ask_late();
  }
  if (what == "abort") {
    std::abort();
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
