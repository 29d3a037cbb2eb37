// A program that does what its first word says: for watch_test.cpp.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

extern "C" {
int tried_spin();
int tried_crash();
int tried_work(int64_t rounds);
int tried_load_then(int (*function)());
int tried_load_then_wait(int fd);
}

namespace {

int never() {
  int ends[2] = {-1, -1};
  return ::pipe(ends) == 0 ? ends[0] : -1;
}

// Leaves a child in a session of its own, and writes its number.
int leave() {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setsid();
    ::signal(SIGTERM, SIG_IGN);
    for (;;) {
      ::pause();
    }
  }
  std::printf("%d\n", static_cast<int>(child));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  const auto is = [what](const char* word) { return std::strcmp(what, word) == 0; };
  if (is("wait")) {
    return tried_load_then_wait(never());
  }
  if (is("spin")) {
    return tried_load_then(tried_spin);
  }
  if (is("crash")) {
    return tried_load_then(tried_crash);
  }
  if (is("abort")) {
    std::abort();
  }
  if (is("work")) {
    return tried_work(INT64_MAX);
  }
  if (is("pool")) {
    std::vector<std::thread> threads;
    threads.reserve(8);
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([] { tried_load_then_wait(never()); });
    }
    return tried_load_then_wait(never());
  }
  if (is("leave")) {
    return leave();
  }
  if (is("leave-and-wait")) {
    leave();
    std::fflush(stdout);
    return tried_load_then_wait(never());
  }
  if (is("handled")) {
    // Signals that a program handles itself are its own affair.
    ::signal(SIGSEGV, [](int) { ::_exit(7); });
    return tried_load_then(tried_crash);
  }
  if (is("threads")) {
    // Many that come and go.
    for (int i = 0; i < 200; ++i) {
      std::thread([] {}).join();
    }
    std::puts("done");
    return 0;
  }
  if (is("error")) {
    std::fputs(
        "RuntimeError: CUDA error: no kernel image is available for execution on the device\n",
        stderr);
    return 3;
  }
  if (is("serve")) {
    // Nobody will connect.
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (listener < 0 ||
        ::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
        ::listen(listener, 1) != 0) {
      return 2;
    }
    const char* how = argc > 2 ? argv[2] : "accept";
    if (std::strcmp(how, "poll") == 0) {
      pollfd entry{.fd = listener, .events = POLLIN, .revents = 0};
      return ::poll(&entry, 1, -1);
    }
    if (std::strcmp(how, "select") == 0) {
      fd_set set;
      FD_ZERO(&set);
      FD_SET(listener, &set);
      return ::select(listener + 1, &set, nullptr, nullptr, nullptr);
    }
    if (std::strcmp(how, "epoll") == 0) {
      const int several = ::epoll_create1(EPOLL_CLOEXEC);
      epoll_event event{};
      event.events = EPOLLIN;
      ::epoll_ctl(several, EPOLL_CTL_ADD, listener, &event);
      return ::epoll_wait(several, &event, 1, -1);
    }
    return ::accept(listener, nullptr, nullptr);
  }
  if (is("echo")) {
    for (int c = std::getchar(); c != EOF; c = std::getchar()) {
      std::putchar(c);
    }
    return 0;
  }
  return 2;
}
