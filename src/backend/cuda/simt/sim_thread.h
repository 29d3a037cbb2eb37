// SimThread: one of a block's threads in the simulation, as the kernel language sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mynah::simt {

// A kernel as this machine runs it.
struct HostKernel {
  const char* name = "";
  int most_threads = 0;                     // of a block
  size_t argument_bytes = 0;                // of the structure that `run` is given
  void (*run)(const void* args) = nullptr;  // one thread's part
};

namespace detail {

inline constexpr int kLanes = 32;
inline constexpr int kWarpsOfGroup = 4;
// Room of a lane in an exchange: a matrix unit's operands of one lane.
inline constexpr size_t kExchangeBytes = 64;

// Where a pointer may point: an allocation of the simulated card.
struct Bounds {
  uintptr_t begin = 0;
  uintptr_t end = 0;
};

// The block that a thread belongs to, as far as kernels ask.
class BlockFacts {
 public:
  [[nodiscard]] int threads() const { return threads_; }

  [[nodiscard]] int x() const { return x_; }

  [[nodiscard]] int y() const { return y_; }

  [[nodiscard]] int z() const { return z_; }

  [[nodiscard]] int count_x() const { return count_x_; }

 protected:
  int threads_ = 0;
  int x_ = 0;
  int y_ = 0;
  int z_ = 0;
  int count_x_ = 1;
};

class Block;
class WarpLog;

// A unit that all lanes of a warp use together: works on what each gave, kExchangeBytes apart, and
// says how many products of matrices that was, 16 by 8 each.
using WarpUnit = int (*)(std::byte* lanes);

// The widest copy.
inline constexpr size_t kCopyBytes = 16;

// A product of a warpgroup's matrix units that is on its way: of the matrices that begin at `a` and
// `b`, to 4 `panels` sums of this lane's (simt.h).
struct WarpgroupProduct {
  uintptr_t a;
  uintptr_t b;
  int panel_bytes;
  int panels;  // of B
  bool adds;
  float* sums;
  WarpUnit unit;  // does it, for a warp
};

// What a kernel calls is answered for the thread that runs now. A mistake ends the thread and its
// block by an exception (Fault, simulator.h).
class SimThread {
 public:
  // The one that runs now on this thread of the machine.
  static SimThread& current() { return *running; }

  [[nodiscard]] int index() const { return index_; }

  [[nodiscard]] const BlockFacts& block() const { return *facts_; }

  // The allocation that holds this address; nothing where there is none.
  [[nodiscard]] Bounds bounds_of(const void* pointer) const;

  // Fails outside the bounds, and where the address is not a multiple of `alignment`.
  void look_at_global(const Bounds& bounds, uintptr_t address, size_t bytes, size_t alignment,
                      bool writes) {
    if (address < bounds.begin || address + bytes > bounds.end || address % alignment != 0)
        [[unlikely]] {
      fail_global(bounds, address, bytes, alignment, writes);
    }
    if (log_ != nullptr) {
      note(address, bytes, false);
    }
  }

  // Fails outside the block's memory, where the address is not a multiple of `alignment`, at what
  // nobody wrote, and where another thread was there without a barrier since.
  void look_at_shared(uintptr_t address, size_t bytes, size_t alignment, bool writes) {
    if (looks_at_shared_) {
      check_shared(address, bytes, alignment, writes);
    }
    if (log_ != nullptr) {
      note(address, bytes, true);
    }
  }

  // The block's memory by the name `key`: the same for all of its threads.
  [[nodiscard]] void* block_memory(const void* key, size_t bytes);
  [[nodiscard]] void* dynamic_memory() const;

  // Waits for all threads of the block.
  void reach_barrier(int line);

  // Waits for all lanes of the warp; returns what each gave, kExchangeBytes apart. `unit`, where
  // there is one, works on it once all have given theirs.
  const std::byte* exchange(const void* value, size_t bytes, int line, WarpUnit unit = nullptr);

  // A copy to the block's memory that is on its way until it is waited for.
  void begin_copy(uintptr_t to, const void* value, size_t bytes);
  // Those begun since the last call are a group.
  void commit_copies();
  // All groups but the last `left` have arrived.
  void wait_for_copies(int left);

  // mbarriers (mbarriers.h), by their addresses. What this thread's warp did before it last met is
  // known to whoever waits for the phase in which the thread arrives.
  void init_mbarrier(uintptr_t mbarrier, int count);
  void arrive(uintptr_t mbarrier, int64_t bytes);
  void wait_for_phase(uintptr_t mbarrier, int parity, int line);
  // Counts for the mbarrier when it is there.
  void begin_bulk_copy(uintptr_t to, const std::byte* from, size_t bytes, uintptr_t mbarrier);

  // Registers are ready for products; those begun are done when they are waited for, and their sums
  // no numbers until then.
  void begin_products() { may_multiply_ = true; }

  void begin_product(const WarpgroupProduct& product);
  void wait_for_products(int line);

 private:
  friend class Block;

  [[noreturn]] void fail_global(const Bounds& bounds, uintptr_t address, size_t bytes,
                                size_t alignment, bool writes) const;
  void check_shared(uintptr_t address, size_t bytes, size_t alignment, bool writes);
  void note(uintptr_t address, size_t bytes, bool shared);

  struct Copy {
    uintptr_t to;
    size_t bytes;
    int group;
    std::byte value[kCopyBytes];
  };

  struct Product {
    WarpgroupProduct what;
    std::vector<uint32_t> sums;  // before it; empty where an earlier one has them
  };

  static thread_local constinit SimThread* running;

  const BlockFacts* facts_ = nullptr;
  Block* block_ = nullptr;
  int index_ = 0;
  bool looks_at_shared_ = true;
  WarpLog* log_ = nullptr;  // of its warp, where accesses are counted
  std::vector<Copy> copies_;
  int copy_group_ = 0;
  std::vector<Product> products_;
  bool may_multiply_ = false;
};

}  // namespace detail
}  // namespace mynah::simt
