// CallTurn: the turn of one call of a model on the processor's threads, whose steps are operations.
#pragma once

#include <optional>

#include "base/thread_pool.h"
#include "base/turns.h"

namespace mynah::place {

// Of one thread.
class CallTurn {
 public:
  // Before an operation that uses the pool: takes a turn, as urgent as the thread is, or lets
  // others go before. `resting` is called where that may have to wait.
  void step(ThreadPool& pool, FunctionRef<void()> resting) {
    if (!turn_) {
      resting();
      turn_.emplace(pool.turns(), pool.size(), urgency());
    } else if (turn_->is_over()) {
      resting();
      turn_->let_others_go_before();
    }
  }

  // The call is done.
  void end() { turn_.reset(); }

 private:
  std::optional<Turns::Turn> turn_;
};

}  // namespace mynah::place
