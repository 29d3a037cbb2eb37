// Hangup: SIGHUP as the wish that what can be read again is.
#pragma once

#include <functional>
#include <thread>

#include <signal.h>

#include "base/unique_fd.h"

namespace mynah::cli {

// While it lives SIGHUP stops nothing, and each has `reload` called, on a thread of its own. One in
// a process. Where the system gives no thread or descriptor the signal does as before.
class Hangup {
 public:
  explicit Hangup(std::function<void()> reload);
  ~Hangup();
  Hangup(const Hangup&) = delete;
  Hangup& operator=(const Hangup&) = delete;

 private:
  std::function<void()> reload_;
  UniqueFd fd_;
  bool handles_ = false;
  struct sigaction before_{};
  std::jthread waiter_;  // the first to go
};

}  // namespace mynah::cli
