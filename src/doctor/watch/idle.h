// Commands that use no processor because nobody wants anything of them: they serve, or ask.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doctor/watch/watch.h"

namespace mynah::doctor {

struct Idle {
  WatchEnd end = WatchEnd::Serves;  // or Asks
  std::vector<std::string> waits_on;
};

// Why the command waits where that is no fault. It serves where a thread waits for connections on a
// socket that listens (accept, poll, select, epoll); it asks where one reads its standard input.
// None where it does neither; and where a thread is inside of a driver (ioctl, or a wait that
// cannot be broken off), or a process's first thread waits for another (futex) within a library of
// cards, or for an answer on a connection: these are hangs. The threads of `watched` are as they
// are now.
[[nodiscard]] std::optional<Idle> why_idle(const Watched& watched);

}  // namespace mynah::doctor
