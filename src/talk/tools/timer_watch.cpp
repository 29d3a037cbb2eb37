#include "talk/tools/timer_watch.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace mynah::talk {

namespace {

constexpr std::chrono::milliseconds kBetweenLooks{250};

}  // namespace

TimerWatch::TimerWatch(std::shared_ptr<Timers> timers, Ways ways)
    : timers_(std::move(timers)), ways_(std::move(ways)) {
  look();
  thread_ = std::jthread([this](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    while (!stopped.wait_for(lock, stop, kBetweenLooks, [&] { return stop.stop_requested(); })) {
      if (ways_.is_quiet()) {
        look();
      }
    }
  });
}

void TimerWatch::look() {
  const SystemSeconds now = ways_.now();
  auto due = timers_->due(now);
  for (size_t i = 0; due && i < due->size(); ++i) {
    const auto taken = timers_->remove((*due)[i].id);
    if (!taken) {
      due = std::unexpected(taken.error());
    } else if (*taken) {
      ways_.ring(ring_text((*due)[i], now));
    }
  }
  if (!due && !std::exchange(failed_, true)) {
    ways_.fail(due.error().message);
  }
}

}  // namespace mynah::talk
