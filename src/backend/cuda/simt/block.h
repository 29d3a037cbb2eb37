// Block: the threads of one block of a launch, each with a stack of its own, on one thread of the
// machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/context/fiber.hpp>

#include "backend/cuda/simt/mbarriers.h"
#include "backend/cuda/simt/shared_shadow.h"
#include "backend/cuda/simt/sim_thread.h"
#include "backend/cuda/simt/simulator.h"
#include "backend/cuda/simt/stack_switch.h"
#include "backend/cuda/simt/traffic.h"

namespace mynah::simt::detail {

// A kernel's mistake: ends its thread.
class Fault : public std::exception {
 public:
  explicit Fault(std::string what) : what_(std::move(what)) {}

  [[nodiscard]] const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::string what_;
};

// What all blocks of a launch have in common.
struct Launch {
  const HostKernel& kernel;
  GridSize grid;
  int threads = 0;
  size_t dynamic_bytes = 0;
  const void* args = nullptr;
};

class Block : public BlockFacts {
 public:
  explicit Block(const Simulator& simulator);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  // Runs block `number` of the launch; what went wrong, if anything did.
  std::optional<std::string> run(const Launch& launch, int64_t number);

  // What was counted since it was last taken; the sectors that were touched are added to `seen`.
  Traffic take_traffic(Sectors& seen);

  // The kernel language, for the thread that runs now.
  [[nodiscard]] Bounds bounds_of(const void* pointer);
  void* memory(const void* key, size_t bytes);
  [[nodiscard]] void* dynamic_memory() const;
  void reach_barrier(const SimThread& thread, int line);
  const std::byte* exchange(const SimThread& thread, const void* value, size_t bytes, int line,
                            WarpUnit unit);
  // Whether the access is inside and aligned, and, where that is looked at, what it meets there.
  void check_shared(const SimThread& thread, uintptr_t address, size_t bytes, size_t alignment,
                    bool writes);
  void begin_copy(const SimThread& thread, uintptr_t to, size_t bytes, size_t alignment);
  void end_copy(const SimThread& thread, uintptr_t to, size_t bytes);
  void init_mbarrier(const SimThread& thread, uintptr_t mbarrier, int count);
  void arrive(const SimThread& thread, uintptr_t mbarrier, int64_t bytes);
  void wait_for_phase(const SimThread& thread, uintptr_t mbarrier, int parity, int line);
  void begin_bulk_copy(const SimThread& thread, uintptr_t to, const std::byte* from, size_t bytes,
                       uintptr_t mbarrier);

 private:
  enum class State : uint8_t { Ready, AtBarrier, InExchange, AtMbarrier, Done };

  // A thread and where it stands.
  struct Lane {
    SimThread thread;
    State state = State::Done;
    int line = 0;                     // of the barrier or exchange that it waits at
    uintptr_t mbarrier = 0;           // that it waits at, for the phase of
    int parity = 0;                   // this parity
    boost::context::fiber fiber;      // where it goes on
    boost::context::fiber scheduler;  // where it came from
    StackSwitch stack;
  };

  struct Warp {
    int waiting = 0;  // lanes in an exchange
    int line = 0;     // of the exchange
    bool odd = false;
    // Two in turn: who reads the last exchange may be overtaken by one that writes the next.
    WarpLog log;
    alignas(16) std::byte slots[2][kLanes * kExchangeBytes];
  };

  // Named memory of the block.
  struct Named {
    const void* key;
    size_t begin;
    size_t bytes;
  };

  // On its way, with what it brings.
  struct BulkCopy {
    uintptr_t to;
    uintptr_t mbarrier;
    int thread;
    std::vector<std::byte> value;
  };

  void prepare(const Launch& launch, int64_t number);
  // A Fault where there is none.
  void check_mbarrier(const SimThread& thread, uintptr_t mbarrier);
  // Lets those go on whose phase is over.
  void release_mbarrier(uintptr_t mbarrier);
  // Ends one of the copies that are on their way; false where there is none.
  bool end_bulk_copy();
  // The offset of an access to the block's memory; a Fault where it is outside or not aligned.
  [[nodiscard]] size_t offset_of(uintptr_t address, size_t bytes, size_t alignment,
                                 std::string_view verb) const;
  void make_lanes(int count);
  boost::context::fiber lane_main(size_t index);
  void run_lane(Lane& lane);
  // Lets the running thread wait until it is ready again.
  void yield(Lane& lane);
  // Runs what is ready, warp by warp; false where nothing was.
  bool run_ready();
  // Where nothing is ready: opens the barrier that all have reached, or says why nobody can go on.
  void release_barrier();
  [[nodiscard]] std::string why_stuck() const;
  // Counts what the warps did since they last met.
  void settle_traffic();
  void abandon();

  const Simulator& simulator_;
  const Launch* launch_ = nullptr;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<std::unique_ptr<Warp>> warps_;
  std::vector<int> order_;  // of warps
  std::minstd_rand random_;
  std::vector<std::byte> memory_;
  size_t memory_used_ = 0;
  // Of the allocations that this block met: all of its threads ask for the same ones, and the
  // simulator's list has a lock, for which all blocks would wait.
  std::vector<Bounds> bounds_;
  std::vector<Named> named_;
  SharedShadow shadow_;
  Mbarriers mbarriers_;
  std::vector<BulkCopy> bulk_copies_;
  Traffic traffic_;
  Sectors sectors_;      // of the block that runs
  Sectors all_sectors_;  // of those before it, since they were last taken
  std::optional<std::string> fault_;
};

}  // namespace mynah::simt::detail
