// Traffic: what a card would pay for a kernel's accesses to memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "backend/cuda/simt/sim_thread.h"

namespace mynah::simt {

// Counted a warp at a time, as a card serves its 32 lanes together (CUDA C++ Best Practices Guide,
// "Coalesced Access to Global Memory" and "Shared Memory and Memory Banks").
struct Traffic {
  uint64_t blocks = 0;
  uint64_t global_requests = 0;  // accesses of a warp
  uint64_t global_bytes = 0;     // that lanes wanted
  uint64_t global_sectors = 0;   // of 32 bytes that were moved for them
  uint64_t block_sectors = 0;    // each counted once a block
  uint64_t launch_sectors = 0;   // each counted once a launch
  uint64_t shared_requests = 0;
  uint64_t shared_wavefronts = 0;  // one a request where no two lanes wait for each other's bank
  uint64_t barriers = 0;           // of a block
  uint64_t matrix_products = 0;    // of a warp

  Traffic& operator+=(const Traffic& other);

  // Bytes wanted of bytes moved; 1 where there are none.
  [[nodiscard]] double coalescing() const;
  // Wavefronts that each request needs; 1 is best, and where there are none.
  [[nodiscard]] double bank_conflicts() const;
};

namespace detail {

// Sectors of global memory, by their number.
using Sectors = std::unordered_set<uintptr_t>;

struct Access {
  uintptr_t address;
  uint32_t bytes;
  bool shared;
};

// The accesses of a warp's lanes since they last met. The n-th ones of all lanes are taken for one
// request: exact as long as lanes do not diverge between two meetings.
class WarpLog {
 public:
  void note(int lane, const Access& access) {
    std::vector<Access>& log = lanes_[static_cast<size_t>(lane)];
    if (log.size() < kMost) {
      log.push_back(access);
    }
  }

  // Counts what was noted, and forgets it; sectors of global memory are added to `seen`.
  void settle(Traffic& traffic, Sectors& seen);

 private:
  // Enough for a tile; what a lane does beyond it before it meets the others is not counted.
  static constexpr size_t kMost = 1 << 14;

  std::array<std::vector<Access>, kLanes> lanes_;
};

// One request of at most 32 lanes, all global or all shared.
void count_request(std::span<const Access> lanes, Traffic& traffic, Sectors& seen);

}  // namespace detail
}  // namespace mynah::simt
