#include "base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mynah {
namespace {

void relax() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

// A decode step is some thirty regions of a few microseconds each: a sleeping thread would cost
// more than the region. About 50 us of spinning on current processors.
constexpr int kSpins = 2000;

// The part of a pool that this thread works in: see ThreadPool::split.
struct Part {
  const ThreadPool* whole = nullptr;
  ThreadPool* threads = nullptr;
};

thread_local Part part;

// Whether this thread runs a range of a parallel_for().
thread_local bool in_range = false;

}  // namespace

struct ThreadPool::State {
  struct Region {
    FunctionRef<void(int64_t, int64_t)>* fn = nullptr;
    int64_t count = 0;
    int64_t grain = 1;
  };

  std::vector<std::thread> workers;
  std::optional<Turns> turns;  // of as many threads as there are
  std::mutex region_mutex;     // held by the caller whose region runs

  std::mutex sleep_mutex;  // guards the two conditions below
  std::condition_variable wake;
  std::atomic<int> sleeping{0};
  bool stopping = false;

  Region region;
  std::atomic<int64_t> next{0};
  // The number of the region, whether workers may join it, and how many have joined and not left.
  // Who opened it waits for those alone: one that got no core to begin on is not missed.
  std::atomic<uint64_t> gate{0};

  static constexpr uint64_t kJoined = 0xFFFF;
  static constexpr uint64_t kOpen = kJoined + 1;
  static constexpr uint64_t kNumber = 2 * kOpen;

  [[nodiscard]] uint64_t number() const { return gate.load(std::memory_order_seq_cst) / kNumber; }

  void open() { gate.store((number() + 1) * kNumber + kOpen, std::memory_order_seq_cst); }

  // Joins the region that is open; `seen` is the number of the last one that was. False: none is.
  bool join(uint64_t& seen) {
    uint64_t now = gate.load(std::memory_order_acquire);
    bool joined = false;
    while (!joined && (now & kOpen) != 0) {
      joined = gate.compare_exchange_weak(now, now + 1, std::memory_order_acq_rel,
                                          std::memory_order_acquire);
    }
    seen = now / kNumber;
    return joined;
  }

  void leave() { gate.fetch_sub(1, std::memory_order_release); }

  // Nobody joins any more, and who has has left.
  void close() {
    gate.fetch_and(~kOpen, std::memory_order_acq_rel);
    for (int spin = 0; (gate.load(std::memory_order_acquire) & kJoined) != 0; ++spin) {
      // A worker that lost its core to another process needs this one's time slice more than this
      // loop does.
      spin < kSpins ? relax() : std::this_thread::yield();
    }
  }

  void drain() {
    const Region& r = region;
    const bool before = std::exchange(in_range, true);
    for (;;) {
      const int64_t begin = next.fetch_add(r.grain, std::memory_order_relaxed);
      if (begin >= r.count) {
        break;
      }
      (*r.fn)(begin, std::min(begin + r.grain, r.count));
    }
    in_range = before;
  }

  void work() {
    uint64_t seen = 0;
    for (;;) {
      for (int spin = 0; spin < kSpins && number() == seen; ++spin) {
        relax();
      }
      if (number() == seen) {
        std::unique_lock lock(sleep_mutex);
        sleeping.fetch_add(1);
        wake.wait(lock, [&] { return stopping || number() != seen; });
        sleeping.fetch_sub(1);
        if (stopping) {
          return;
        }
      }
      if (join(seen)) {
        drain();
        leave();
      }
    }
  }
};

ThreadPool::ThreadPool(int n_threads) : state_(std::make_unique<State>()) {
  try {
    for (int i = 1; i < n_threads; ++i) {
      state_->workers.emplace_back([this] { state_->work(); });
    }
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch)
    // The user's limit, or memory for its stack: the work is done by fewer.
  }
  state_->turns.emplace(static_cast<int>(state_->workers.size()) + 1);
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(state_->sleep_mutex);
    state_->stopping = true;
  }
  state_->wake.notify_all();
  for (auto& worker : state_->workers) {
    worker.join();
  }
}

int ThreadPool::size() const {
  if (part.whole == this) {
    return part.threads->size();
  }
  return static_cast<int>(state_->workers.size()) + 1;
}

void ThreadPool::parallel_for(int64_t count, int64_t grain,
                              FunctionRef<void(int64_t, int64_t)> fn) {
  if (count <= 0) {
    return;
  }
  if (part.whole == this) {
    part.threads->parallel_for(count, grain, fn);
    return;
  }
  State& s = *state_;
  if (s.workers.empty() || count <= grain || !s.region_mutex.try_lock()) {
    fn(0, count);
    return;
  }
  s.region = {&fn, count, grain};
  s.next.store(0, std::memory_order_relaxed);
  s.open();
  if (s.sleeping.load() > 0) {
    // Taking the mutex orders this wake-up after the sleeper's check of the number.
    {
      const std::lock_guard lock(s.sleep_mutex);
    }
    s.wake.notify_all();
  }
  s.drain();
  s.close();
  s.region_mutex.unlock();
}

void ThreadPool::split(int parts, FunctionRef<void(int)> fn) {
  const int threads = size();
  MYNAH_CHECK(parts >= 1 && parts <= threads, "a pool is split into as many parts as threads");
  std::vector<std::unique_ptr<ThreadPool>> pools;
  pools.reserve(static_cast<size_t>(parts));
  for (int i = 0; i < parts; ++i) {
    pools.push_back(std::make_unique<ThreadPool>(threads / parts + (i < threads % parts ? 1 : 0)));
  }
  std::vector<std::exception_ptr> thrown(pools.size());
  const auto run = [&](int i) {
    const auto at = static_cast<size_t>(i);
    const Part before = std::exchange(part, {this, pools[at].get()});
    try {
      fn(i);
    } catch (...) {
      thrown[at] = std::current_exception();
    }
    part = before;
  };
  // Threads of their own: who takes turns with this may use those of the pool while it is set
  // aside.
  std::vector<std::jthread> others;
  int begun = 1;
  try {
    for (; begun < parts && !in_range; ++begun) {
      others.emplace_back([&run, begun, wanted = urgency()] {
        const UrgencyScope as_urgent(wanted);
        run(begun);
      });
    }
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch)
    // As above: the rest comes one after another.
  }
  run(0);
  for (; begun < parts; ++begun) {
    run(begun);
  }
  others.clear();  // which waits for them
  for (const std::exception_ptr& one : thrown) {
    if (one) {
      std::rethrow_exception(one);
    }
  }
}

Turns& ThreadPool::turns() {
  return *state_->turns;
}

}  // namespace mynah
