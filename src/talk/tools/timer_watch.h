// TimerWatch: has timers and alarms ring in a conversation when they are due.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "talk/tools/own_tools.h"
#include "talk/tools/timers.h"

namespace mynah::talk {

class TimerWatch {
 public:
  struct Ways {
    // ring_text() of one that is due, told once, by whichever process takes it first.
    std::function<void(const std::string& text)> ring;
    // Whether it may ring now: while somebody speaks it is left for later, and kept.
    std::function<bool()> is_quiet;
    // What is wrong with the file, told once.
    std::function<void(const std::string& error)> fail;
    NowOf now;
  };

  // Those that were over while nobody was here ring before it returns, the others on a thread of
  // its own, which looks four times a second.
  TimerWatch(std::shared_ptr<Timers> timers, Ways ways);
  ~TimerWatch() = default;
  TimerWatch(const TimerWatch&) = delete;
  TimerWatch& operator=(const TimerWatch&) = delete;

 private:
  void look();

  std::shared_ptr<Timers> timers_;
  Ways ways_;
  bool failed_ = false;
  std::jthread thread_;  // the first to go
};

}  // namespace mynah::talk
