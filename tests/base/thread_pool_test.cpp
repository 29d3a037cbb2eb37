#include "base/thread_pool.h"

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

namespace mynah {
namespace {

// Whether every other thread of this process sleeps: the letter after the name in its stat file
// (proc(5)).
bool all_others_sleep() {
  const std::string own = std::to_string(::gettid());
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() != own) {
      std::ifstream file(task.path() / "stat");
      std::string text;
      std::getline(file, text);
      const size_t name_end = text.rfind(')');
      if (name_end == std::string::npos || text.at(name_end + 2) != 'S') {
        return false;
      }
    }
  }
  return true;
}

// A thread that is held up, as one that gets no core: a signal's handler keeps it.
std::atomic<bool> is_held{false};
std::atomic<bool> let_go{false};

void hold(int /*signal*/) {
  is_held = true;
  while (!let_go) {
    ::usleep(1000);
  }
}

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

// While it lives no thread can be started: there is no room for its stack.
class NoMoreThreads {
 public:
  NoMoreThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t none = before_;
    pthread_attr_setstacksize(&none, size_t{1} << 47U);
    pthread_setattr_default_np(&none);
  }

  ~NoMoreThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }

  NoMoreThreads(const NoMoreThreads&) = delete;
  NoMoreThreads& operator=(const NoMoreThreads&) = delete;

 private:
  pthread_attr_t before_{};
};

TEST(ThreadPool, WorksWithTheThreadsThatItGot) {
  const NoMoreThreads limit;
  ThreadPool pool(4);
  EXPECT_EQ(pool.size(), 1);
  int64_t done = 0;
  pool.parallel_for(10, 1, [&](int64_t begin, int64_t end) { done += end - begin; });
  EXPECT_EQ(done, 10);
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
  std::vector<std::thread> callers(4);
  for (auto& caller : callers) {
    caller = std::thread([&] {
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
  ThreadPool pool(3);
  for (int n = 0; n < 50; ++n) {
    while (!all_others_sleep()) {
      std::this_thread::yield();
    }
    std::atomic<int64_t> sum{0};
    pool.parallel_for(64, 1, [&](int64_t begin, int64_t end) { sum.fetch_add(end - begin); });
    ASSERT_EQ(sum.load(), 64);
  }
}

TEST(ThreadPool, ACallerDoesNotWaitForAWorkerThatGetsNoCoreToBegin) {
  ThreadPool pool(2);
  std::latch both(2);  // each takes one
  std::atomic<pid_t> worker{0};
  const pid_t caller = ::gettid();
  pool.parallel_for(2, 1, [&](int64_t, int64_t) {
    if (::gettid() != caller) {
      worker = ::gettid();
    }
    both.arrive_and_wait();
  });
  ASSERT_NE(worker, 0);
  is_held = false;
  let_go = false;
  struct sigaction held{};
  held.sa_handler = hold;
  ASSERT_EQ(::sigaction(SIGUSR1, &held, nullptr), 0);
  ASSERT_EQ(::tgkill(::getpid(), worker, SIGUSR1), 0);
  while (!is_held) {
    std::this_thread::yield();
  }
  int64_t sum = 0;  // of the caller alone
  for (int n = 0; n < 10; ++n) {
    pool.parallel_for(64, 1, [&](int64_t begin, int64_t end) {
      EXPECT_EQ(::gettid(), caller);
      sum += end - begin;
    });
  }
  EXPECT_EQ(sum, 640);
  let_go = true;
  std::latch again(2);  // it works on
  pool.parallel_for(2, 1, [&](int64_t, int64_t) { again.arrive_and_wait(); });
}

TEST(ThreadPool, SplitsItsThreadsAmongParts) {
  for (const auto& [threads, parts] : {std::pair{1, 1}, {2, 2}, {3, 2}, {7, 3}, {4, 4}}) {
    ThreadPool pool(threads);
    std::latch all_there(parts);  // no part waits for another to end
    std::atomic<int> sizes{0};
    std::atomic<int64_t> sum{0};
    pool.split(parts, [&](int part) {
      all_there.arrive_and_wait();
      EXPECT_GE(part, 0);
      EXPECT_LT(part, parts);
      sizes.fetch_add(pool.size());
      for (int n = 0; n < 20; ++n) {
        pool.parallel_for(64, 1, [&](int64_t begin, int64_t end) { sum.fetch_add(end - begin); });
      }
    });
    EXPECT_EQ(sizes.load(), threads);
    EXPECT_EQ(sum.load(), int64_t{parts} * 20 * 64);
    EXPECT_EQ(pool.size(), threads);
  }
}

TEST(ThreadPool, ItsThreadsAreFreeForOthersWhileItsPartsRest) {
  ThreadPool pool(2);
  std::latch rest(3);
  std::jthread other([&] {
    rest.arrive_and_wait();
    std::latch both(2);  // each of two threads takes one
    pool.parallel_for(2, 1, [&](int64_t, int64_t) { both.arrive_and_wait(); });
  });
  pool.split(2, [&](int) { rest.arrive_and_wait(); });
}

TEST(ThreadPool, WhatAPartThrowsComesOutAndThePoolIsWholeAgain) {
  ThreadPool pool(2);
  for (const int thrower : {0, 1}) {
    std::atomic<int> done{0};
    EXPECT_THROW(pool.split(2,
                            [&](int part) {
                              if (part == thrower) {
                                throw std::runtime_error("stopped");
                              }
                              done.fetch_add(1);
                            }),
                 std::runtime_error);
    EXPECT_EQ(done.load(), 1);
    EXPECT_EQ(pool.size(), 2);
    std::latch both(2);  // each of two threads takes one
    pool.parallel_for(2, 1, [&](int64_t, int64_t) { both.arrive_and_wait(); });
  }
}

TEST(ThreadPool, PartsInsideARangeRunOnItsThread) {
  ThreadPool pool(2);
  std::atomic<int> parts{0};
  pool.parallel_for(2, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto me = std::this_thread::get_id();
      pool.split(2, [&](int) {
        EXPECT_EQ(std::this_thread::get_id(), me);
        parts.fetch_add(1);
      });
    }
  });
  EXPECT_EQ(parts.load(), 4);
}

}  // namespace
}  // namespace mynah
