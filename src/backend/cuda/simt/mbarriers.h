// Mbarriers: barriers in a block's memory that count arrivals of threads and bytes of copies (PTX
// ISA, "mbarrier"), as the simulation keeps them.
#pragma once

#include <cstdint>
#include <map>

#include "backend/cuda/simt/shared_shadow.h"

namespace mynah::simt::detail {

// A phase is over when as many threads have arrived as the barrier was made for, and as many bytes
// have been copied as were said to come; then the next begins.
class Mbarriers {
 public:
  void clear() { all_.clear(); }

  // Makes one at `address`, or makes it anew.
  void init(uintptr_t address, int count);

  [[nodiscard]] bool exists(uintptr_t address) const { return all_.contains(address); }

  // What is known to whoever waits for the phase that is under way: arrivals add to it.
  Knowledge& pending_knowledge(uintptr_t address) { return all_.at(address).pending; }

  // What was known when the last phase ended.
  [[nodiscard]] const Knowledge& knowledge(uintptr_t address) const {
    return all_.at(address).known;
  }

  // A thread arrives, and says that `bytes` more will be copied. False where more arrive than the
  // barrier was made for.
  [[nodiscard]] bool arrive(uintptr_t address, int64_t bytes);
  // So many have been copied.
  void copied(uintptr_t address, int64_t bytes);

  // Whether the phase of this parity is over: 0 for the first, then 1 and 0 in turn.
  [[nodiscard]] bool is_over(uintptr_t address, int parity) const {
    return all_.at(address).phase % 2 != parity;
  }

 private:
  struct Mbarrier {
    int count = 0;
    int arrived = 0;
    int64_t bytes = 0;  // still to come; less than none where copies were there first
    int phase = 0;
    Knowledge pending;
    Knowledge known;
  };

  static void end_phase_where_due(Mbarrier& barrier);

  std::map<uintptr_t, Mbarrier> all_;
};

}  // namespace mynah::simt::detail
