#include "cli/serve/hangup.h"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include <sys/eventfd.h>
#include <unistd.h>

namespace mynah::cli {
namespace {

// A signal handler can reach nothing but globals.
std::atomic<int> hangup_fd{-1};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

void add_one(int fd) {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(fd, &one, sizeof(one));
}

extern "C" void on_hangup(int /*signal*/) {
  const int saved = errno;
  add_one(hangup_fd.load());
  errno = saved;
}

}  // namespace

Hangup::Hangup(std::function<void()> reload)
    : reload_(std::move(reload)), fd_(::eventfd(0, EFD_CLOEXEC)) {
  if (fd_.get() < 0) {
    return;
  }
  try {
    waiter_ = std::jthread([this](const std::stop_token& end) {
      uint64_t count = 0;
      while (!end.stop_requested()) {
        if (::read(fd_.get(), &count, sizeof(count)) > 0 && !end.stop_requested()) {
          reload_();
        }
      }
    });
  } catch (const std::system_error&) {
    return;
  }
  hangup_fd = fd_.get();
  struct sigaction action{};
  action.sa_handler = on_hangup;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  handles_ = ::sigaction(SIGHUP, &action, &before_) == 0;
}

Hangup::~Hangup() {
  if (handles_) {
    ::sigaction(SIGHUP, &before_, nullptr);
  }
  if (waiter_.joinable()) {
    waiter_.request_stop();
    add_one(fd_.get());
    waiter_.join();
  }
  hangup_fd = -1;
}

}  // namespace mynah::cli
