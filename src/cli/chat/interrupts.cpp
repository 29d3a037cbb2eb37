#include "cli/chat/interrupts.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/check.h"
#include "base/unique_fd.h"

namespace mynah::cli {

namespace {

// A signal handler can reach nothing but globals.
std::atomic<int> interrupt_fd{-1};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

extern "C" void on_interrupt(int /*signal*/) {
  const int saved = errno;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(interrupt_fd.load(), &one, sizeof(one));
  errno = saved;
}

int new_event() {
  const int fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  MYNAH_CHECK(fd >= 0, "no file descriptor left for an event");
  return fd;
}

}  // namespace

// A thread waits for the handler's word, because request_stop() runs callbacks that a handler may
// not.
struct Interrupts::State {
  UniqueFd came{new_event()};
  UniqueFd seen{new_event()};  // by who asks
  UniqueFd end{new_event()};
  std::mutex mutex;
  std::stop_source source;
  struct sigaction before{};
  std::stop_token ends;
  std::thread waiter;

  void tell_waiter() const {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(came.get(), &one, sizeof(one));
  }

  void wait() {
    std::array<pollfd, 2> fds = {{{.fd = came.get(), .events = POLLIN, .revents = 0},
                                  {.fd = end.get(), .events = POLLIN, .revents = 0}}};
    while (true) {
      if (::poll(fds.data(), fds.size(), -1) < 0) {
        continue;
      }
      if (fds[1].revents != 0) {
        return;
      }
      uint64_t count = 0;
      if (::read(came.get(), &count, sizeof(count)) > 0) {
        const uint64_t one = 1;
        [[maybe_unused]] const ssize_t written = ::write(seen.get(), &one, sizeof(one));
        const std::lock_guard lock(mutex);
        source.request_stop();
      }
    }
  }
};

Interrupts::Interrupts(std::stop_token end) : state_(std::make_unique<State>()) {
  state_->ends = std::move(end);
  interrupt_fd = state_->came.get();
  state_->waiter = std::thread([state = state_.get()] { state->wait(); });
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, &state_->before);
  on_end_.emplace(state_->ends, [state = state_.get()] { state->tell_waiter(); });
}

Interrupts::~Interrupts() {
  on_end_.reset();
  ::sigaction(SIGINT, &state_->before, nullptr);
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(state_->end.get(), &one, sizeof(one));
  state_->waiter.join();
  interrupt_fd = -1;
}

std::stop_token Interrupts::begin() {
  take();
  const std::lock_guard lock(state_->mutex);
  state_->source = std::stop_source();
  if (state_->ends.stop_requested()) {
    state_->source.request_stop();
  }
  return state_->source.get_token();
}

int Interrupts::descriptor() const {
  return state_->seen.get();
}

bool Interrupts::take() {
  uint64_t count = 0;
  return ::read(state_->seen.get(), &count, sizeof(count)) > 0;
}

}  // namespace mynah::cli
