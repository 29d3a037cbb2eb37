#include "backend/cuda/simt/mbarriers.h"

#include <utility>

namespace mynah::simt::detail {

void Mbarriers::init(uintptr_t address, int count) {
  all_[address] = {.count = count, .pending = {}, .known = {}};
}

bool Mbarriers::arrive(uintptr_t address, int64_t bytes) {
  Mbarrier& barrier = all_.at(address);
  if (barrier.arrived == barrier.count) {
    return false;
  }
  ++barrier.arrived;
  barrier.bytes += bytes;
  end_phase_where_due(barrier);
  return true;
}

void Mbarriers::copied(uintptr_t address, int64_t bytes) {
  Mbarrier& barrier = all_.at(address);
  barrier.bytes -= bytes;
  end_phase_where_due(barrier);
}

void Mbarriers::end_phase_where_due(Mbarrier& barrier) {
  if (barrier.arrived < barrier.count || barrier.bytes != 0) {
    return;
  }
  barrier.arrived = 0;
  ++barrier.phase;
  // What an earlier phase ended with is known still.
  barrier.known = barrier.pending;
}

}  // namespace mynah::simt::detail
