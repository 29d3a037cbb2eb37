// Simulator: a card made of this machine's threads, which runs kernels and finds their mistakes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include "backend/cuda/simt/sim_thread.h"
#include "backend/cuda/simt/traffic.h"
#include "base/result.h"
#include "base/thread_pool.h"

namespace mynah::simt {

// Blocks of a launch, along each axis.
struct GridSize {
  int x = 1;
  int y = 1;
  int z = 1;

  [[nodiscard]] int64_t blocks() const { return int64_t{x} * y * z; }
};

struct SimulatorOptions {
  // Which of the orders that a card might take: of blocks, and of warps between two barriers.
  uint64_t seed = 0;
  // Looks at every access to shared memory: right for tests of kernels, ten times too slow for
  // whole models.
  bool check_shared = true;
  // Counts what a card would pay: traffic().
  bool count_traffic = false;
  // Where it is not 0: of a launch of more than a hundred blocks this many are run, evenly spread.
  // Results are wrong then; what a block pays is not.
  int64_t sample_blocks = 0;
  // Kernels may go to memory that is not of allocate(): somebody else looks after it.
  bool foreign_memory = false;
  // A block's memory at most; what the oldest card has without asking.
  size_t shared_bytes = 48 << 10;
};

// What the card's memory and its processors are to the driver. Memory is this machine's, and new
// memory holds no numbers (every float is NaN). Blocks run on the pool's threads.
class Simulator {
 public:
  Simulator(ThreadPool& pool, const SimulatorOptions& options);
  ~Simulator();
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  // 256-byte aligned, as the driver's; null where there is no more.
  std::byte* allocate(size_t bytes);
  // Of allocate(), once.
  void free(std::byte* memory);

  // Runs every block; `threads` is a multiple of 32. An error names the kernel, a block and a
  // thread that went wrong, and what it did: an access outside an allocation or of no alignment,
  // shared memory that nobody wrote or that two threads used with no barrier between, a barrier or
  // exchange that not all reached. The other blocks need not have run then. `counted` takes what
  // the blocks that ran pay, where it is counted and `counted` is not null.
  Status launch(const HostKernel& kernel, const GridSize& grid, int threads, size_t dynamic_bytes,
                const void* args, Traffic* counted = nullptr);

  // Of all launches of the kernel of that name since the start; nothing without count_traffic.
  [[nodiscard]] Traffic traffic(const std::string& kernel) const;

  // The allocation that holds this address; nothing where there is none.
  [[nodiscard]] detail::Bounds bounds_of(const void* pointer) const;

  [[nodiscard]] const SimulatorOptions& options() const { return options_; }

 private:
  // The blocks to run, in their order; empty: all, as they are numbered.
  [[nodiscard]] std::vector<int64_t> order_of(int64_t blocks) const;
  // A block that waits to be used again, since its threads' stacks are worth keeping; best one
  // whose stacks are still in the cache of the core that asks.
  std::unique_ptr<detail::Block> take_block();
  void give_back(std::unique_ptr<detail::Block> block);

  ThreadPool& pool_;
  SimulatorOptions options_;
  mutable std::shared_mutex mutex_;  // of all below
  std::map<uintptr_t, size_t> allocations_;
  std::map<std::string, Traffic> traffic_;  // by kernel

  struct IdleBlock {
    std::thread::id user;  // the last one
    std::unique_ptr<detail::Block> block;
  };

  std::vector<IdleBlock> idle_;
};

}  // namespace mynah::simt
