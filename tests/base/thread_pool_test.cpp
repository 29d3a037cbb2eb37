#include "base/thread_pool.h"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace mynah {
namespace {

TEST(ThreadPool, RunsEveryItemOnceWhateverTheSizes) {
  for (const int threads : {1, 2, 3, 7}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    for (const int64_t count : {0, 1, 2, 17, 1000}) {
      for (const int64_t grain : {1, 3, 64, 5000}) {
        std::vector<std::atomic<int>> hits(static_cast<size_t>(count));
        pool.parallel_for(count, grain, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            hits[static_cast<size_t>(i)].fetch_add(1);
          }
        });
        for (const auto& hit : hits) {
          ASSERT_EQ(hit.load(), 1) << threads << " threads, grain " << grain;
        }
      }
    }
  }
}

TEST(ThreadPool, ARegionInsideARegionRunsOnItsOwnThread) {
  ThreadPool pool(4);
  std::atomic<int64_t> sum{0};
  pool.parallel_for(8, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto me = std::this_thread::get_id();
      pool.parallel_for(100, 10, [&](int64_t from, int64_t to) {
        EXPECT_EQ(std::this_thread::get_id(), me);
        sum.fetch_add(to - from);
      });
    }
  });
  EXPECT_EQ(sum.load(), 800);
}

TEST(ThreadPool, ServesSeveralCallersAtOnce) {
  ThreadPool pool(3);
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&] {
      for (int n = 0; n < 200; ++n) {
        pool.parallel_for(50, 5, [&](int64_t begin, int64_t end) { sum.fetch_add(end - begin); });
      }
    });
  }
  for (auto& caller : callers) {
    caller.join();
  }
  EXPECT_EQ(sum.load(), 4 * 200 * 50);
}

TEST(ThreadPool, WakesWorkersThatWentToSleep) {
  ThreadPool pool(2);
  for (int n = 0; n < 50; ++n) {
    // Longer than the workers spin, so that they are asleep when the next region comes.
    for (int spin = 0; spin < 20000; ++spin) {
      std::this_thread::yield();
    }
    std::atomic<int64_t> sum{0};
    pool.parallel_for(64, 1, [&](int64_t begin, int64_t end) { sum.fetch_add(end - begin); });
    ASSERT_EQ(sum.load(), 64);
  }
}

}  // namespace
}  // namespace mynah
