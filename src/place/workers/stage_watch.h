// StageWatch: what a worker notes of each operation of a stage: that it lives, what it counts, and
// the faults that a test wants.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "place/wire/fault.h"
#include "place/workers/call_turn.h"
#include "place/workers/pulse.h"
#include "tensor/fault_watch.h"
#include "tensor/watched_backend.h"

namespace mynah::place {

// Time by stages, of one thread: what passes until the next operation belongs to the last one's.
class StageClock {
 public:
  // `stage` computes from now on; none: nobody does.
  void enter(std::optional<Stage> stage,
             std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now());

  // The same of an operation that begins. Where steps are not timed and it is of the stage that
  // computes anyway, the clock is not asked: a step of a decoder has many that are short.
  void step(Stage stage) {
    if (times_steps_ || now_ != stage) {
      enter(stage);
    }
  }

  [[nodiscard]] double milliseconds(Stage stage) const { return spent_ms_[number_of(stage)]; }

  // Whether step() times each operation from now on.
  void time_steps(bool wanted) { times_steps_ = wanted; }

  // The longest time between two entries since the last forget_longest().
  [[nodiscard]] double longest_ms(Stage stage) const { return longest_ms_[number_of(stage)]; }

  void forget_longest() { longest_ms_ = {}; }

 private:
  std::optional<Stage> now_;
  bool times_steps_ = false;
  std::chrono::steady_clock::time_point since_;
  std::array<double, kMostStages> spent_ms_{};
  std::array<double, kMostStages> longest_ms_{};
};

// What one thread of a worker shows and counts: a lane's.
struct LaneSigns {
  Pulse& pulse;
  StageClock clock{};
  CallTurn turn{};
  std::stop_token stop{};  // of the call: its next operation throws DeviceError of code Cancelled
};

class StageWatch final : public BackendWatch {
 public:
  // `signs` must outlive it, and so must `pool`: the threads that its device computes on; null: it
  // has its own processors.
  StageWatch(Stage stage, LaneSigns& signs, ThreadPool* pool = nullptr)
      : stage_(stage),
        number_(static_cast<uint32_t>(number_of(stage))),
        signs_(signs),
        pool_(pool) {}

  // The faults of this stage.
  void set_faults(const std::vector<Fault>& faults);

  // The stage is called anew: a batch, a clause.
  void begin_call();

  void before(std::string_view operation) override;
  void after(std::string_view operation, Backend& backend, const Tensor& out) override;

 private:
  Stage stage_;
  uint32_t number_;
  LaneSigns& signs_;
  ThreadPool* pool_;
  std::vector<Fault> faults_;
  FaultWatch fault_;
  uint64_t calls_ = 0;
};

}  // namespace mynah::place
