// Calls of models in this process: their turns on its threads, and the time that stages took, as
// StageClock has it of a worker's one thread. Here several threads compute, each with its own
// calls.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/thread_pool.h"
#include "tensor/watched_backend.h"

namespace mynah::place {

// Of one stage, summed over all threads. Hears of operations, each of which is a step of its call's
// turn; those outside a TimedCall (a model that is loaded) are not timed and take no turn.
class CallClock final : public BackendWatch {
 public:
  // `pool`: whose threads the stage computes with; null: none that others share.
  explicit CallClock(ThreadPool* pool = nullptr) : pool_(pool) {}

  void before(std::string_view operation) override;

  void after(std::string_view /*operation*/, Backend& /*backend*/, const Tensor& /*out*/) override {
  }

  [[nodiscard]] double milliseconds() const {
    constexpr double kOfNanosecond = 1e-6;
    return kOfNanosecond * static_cast<double>(spent_ns_.load(std::memory_order_relaxed));
  }

 private:
  friend class TimedCall;

  ThreadPool* pool_;
  std::atomic<int64_t> spent_ns_{0};
};

// While it lives, this thread's time is its stages': what passes until the next operation belongs
// to the last one's, but for what it waits for its turn. It takes its turn, as urgent as its thread
// is, with its first operation; once its thread's StopScope is requested to stop the next one
// throws DeviceError of code Cancelled. Within another one it does nothing. The stages must outlive
// it.
class TimedCall {
 public:
  TimedCall();
  ~TimedCall();
  TimedCall(const TimedCall&) = delete;
  TimedCall& operator=(const TimedCall&) = delete;

 private:
  friend class CallClock;

  // `stage` computes from now on; null: nobody does.
  static void enter(CallClock* stage);
};

}  // namespace mynah::place
