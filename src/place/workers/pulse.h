// Pulse: what a worker shows of itself while it works, in memory that both sides see.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "place/terms/stage.h"

namespace mynah::place {

// Lies at the beginning of a shared segment of zeros. Only lock-free atomics: each side may end at
// any time. What the worker writes is a sign, and nothing the other side relies on for its own
// safety.
struct Pulse {
  // What a stage did until the last request that was answered: known of a worker that ended, too.
  struct Done {
    std::atomic<uint64_t> operations;
    std::atomic<uint64_t> microseconds;
  };

  std::atomic<uint64_t> beats;         // grows every kBeat while the worker's process runs at all
  std::atomic<uint64_t> steps;         // grows with each operation
  std::atomic<uint32_t> stage;         // number_of() what computes now, and 1; 0: none
  std::atomic<int32_t> work_thread;    // of the kernel: that computes
  std::atomic<int32_t> beat_thread;    // that beats
  std::atomic<uint32_t> rests;         // 1: it waits for its turn, others compute
  std::atomic<uint64_t> stop;          // the number of the request that is to end early
  std::atomic<uint64_t> rows;          // bits: which of its first rows are to
  std::array<Done, kMostStages> done;  // by number_of()
};

// The stage that computes, or did last; none: none did.
[[nodiscard]] inline std::optional<Stage> stage_of(const Pulse& pulse) {
  const uint32_t stage = pulse.stage.load();
  return stage >= 1 && stage <= all_stages().size() ? std::optional(all_stages()[stage - 1])
                                                    : std::nullopt;
}

static_assert(std::atomic<uint64_t>::is_always_lock_free);
static_assert(std::atomic<uint32_t>::is_always_lock_free);

}  // namespace mynah::place
