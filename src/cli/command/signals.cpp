#include "cli/command/signals.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/check.h"

namespace mynah::cli {

namespace {

// A signal handler can reach nothing but globals; these are its whole world.
std::atomic<int> received_signal{0};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<int> wake_fd{-1};         // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

std::atomic<bool> leaves_at_first{};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<void (*)()> last_act{};   // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free &&
                  std::atomic<void (*)()>::is_always_lock_free,
              "a handler may not take a lock");

extern "C" void on_stop_signal(int signal) {
  int none = 0;
  if (!received_signal.compare_exchange_strong(none, signal) || leaves_at_first.load()) {
    if (void (*const act)() = last_act.load()) {
      act();
    }
    ::_exit(128 + signal);
  }
  const int saved = errno;
  const uint64_t one = 1;
  // The counter cannot be full: this is its first writer.
  [[maybe_unused]] const ssize_t written = ::write(wake_fd.load(), &one, sizeof(one));
  errno = saved;
}

void set_handler(int signal, void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

void before_second_signal(void (*last)()) {
  last_act = last;
}

void leave_at_first_signal(bool at_once) {
  leaves_at_first = at_once;
}

// A thread waits for the handler's word, because request_stop() runs callbacks that a handler may
// not.
struct StopSignals::State {
  std::stop_source source;
  int fd = -1;
  bool hangs_up = false;           // SIGHUP stops
  std::atomic<bool> ended{false};  // its end may be told together with the signal
  std::mutex mutex;
  std::function<void()> when_late;  // mutex is held for it
  std::thread waiter;

  // For a second, or until the program ends.
  void wait_and_say() {
    constexpr int kLate_ms = 1000;
    pollfd end{.fd = fd, .events = POLLIN, .revents = 0};
    while (!ended) {
      const int ready = ::poll(&end, 1, kLate_ms);
      if (ready >= 0 || errno != EINTR) {
        const std::lock_guard lock(mutex);
        if (ready == 0 && when_late && !ended) {
          when_late();
        }
        return;
      }
    }
  }
};

StopSignals::StopSignals() : state_(std::make_unique<State>()) {
  state_->fd = ::eventfd(0, EFD_CLOEXEC);
  MYNAH_CHECK(state_->fd >= 0, "no file descriptor left at the start");
  wake_fd = state_->fd;
  set_handler(SIGPIPE, SIG_IGN);
  try {
    state_->waiter = std::thread([state = state_.get()] {
      uint64_t count = 0;
      while (::read(state->fd, &count, sizeof(count)) < 0 && errno == EINTR) {
      }
      if (received_signal.load() != 0) {
        state->source.request_stop();
        state->wait_and_say();
      }
    });
  } catch (const std::system_error&) {
    return;  // no thread to be had: a signal does what it does to any program
  }
  set_handler(SIGINT, on_stop_signal);
  set_handler(SIGTERM, on_stop_signal);
  // A terminal that is closed; nohup has it ignored, and so it stays.
  struct sigaction hangup{};
  ::sigaction(SIGHUP, nullptr, &hangup);
  state_->hangs_up = hangup.sa_handler != SIG_IGN;
  if (state_->hangs_up) {
    set_handler(SIGHUP, on_stop_signal);
  }
}

StopSignals::~StopSignals() {
  set_handler(SIGINT, SIG_DFL);
  set_handler(SIGTERM, SIG_DFL);
  if (state_->hangs_up) {
    set_handler(SIGHUP, SIG_DFL);
  }
  state_->ended = true;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(state_->fd, &one, sizeof(one));
  if (state_->waiter.joinable()) {
    state_->waiter.join();
  }
  wake_fd = -1;
  ::close(state_->fd);
}

std::stop_token StopSignals::token() const {
  return state_->source.get_token();
}

void StopSignals::when_late(std::function<void()> say) {
  const std::lock_guard lock(state_->mutex);
  state_->when_late = std::move(say);
}

int StopSignals::received() const {
  return received_signal.load();
}

}  // namespace mynah::cli
