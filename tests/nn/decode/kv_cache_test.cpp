// KvCache: what was written stays where it belongs while sequences grow, share and part.
#include "nn/decode/kv_cache.h"

#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "backend/ref/ref_backend.h"
#include "nn/decode/limited_backend.h"
#include "tensor/device_error.h"

namespace mynah {
namespace {

// Bytes of so many slabs of a cache of so many columns in all layers.
size_t bytes_of_slabs(int64_t slabs, int64_t columns = 1) {
  const int64_t rows = slabs * KvCache::kSlabPages * KvCache::kPageRows;
  return 2 * sizeof(float) * static_cast<size_t>(rows * columns);
}

// A cache of two layers, growing in place or not, and beside it what each sequence should hold.
class KvCacheTest : public testing::TestWithParam<bool> {
 protected:
  static constexpr int64_t kLayers = 2;
  static constexpr int64_t kCapacity = 300;
  static constexpr int64_t kMost = 3;

  // Adds tokens to some sequences in one step, each a number of its own.
  void write(const std::vector<Lane>& lanes) {
    cache_.reserve(lanes);
    const KvStep step = cache_.step(lanes);
    std::vector<float> keys;
    std::vector<float> values;
    for (const Lane& lane : lanes) {
      for (int64_t i = 0; i < lane.count; ++i) {
        keys.push_back(static_cast<float>(++last_));
        values.push_back(-keys.back());
        wanted_[lane.sequence].push_back(keys.back());
      }
    }
    for (int64_t layer = 0; layer < kLayers; ++layer) {
      cache_.write(layer, tensor(keys, layer), tensor(values, layer), step);
    }
    cache_.advance(lanes);
  }

  void write(int64_t sequence, int64_t count) {
    write(std::vector<Lane>{{.sequence = sequence, .count = count}});
  }

  int64_t add() {
    const int64_t sequence = cache_.add();
    wanted_[sequence] = {};
    return sequence;
  }

  int64_t fork(int64_t sequence, int64_t length) {
    const int64_t forked = cache_.fork(sequence, length);
    const std::vector<float>& from = wanted_[sequence];
    wanted_[forked] = {from.begin(), from.begin() + length};
    return forked;
  }

  void remove(int64_t sequence) {
    cache_.remove(sequence);
    wanted_.erase(sequence);
  }

  // A quarter more than in the layer below.
  static float in_layer(float number, int64_t layer) {
    return number + static_cast<float>(layer) / 4;
  }

  [[nodiscard]] Tensor tensor(const std::vector<float>& numbers, int64_t layer) {
    std::vector<float> own;
    own.reserve(numbers.size());
    for (const float number : numbers) {
      own.push_back(in_layer(number, layer));
    }
    return ops::from_host(backend_, std::span<const float>(own), {std::ssize(own), 1});
  }

  // Every sequence holds what was written to it, in both layers.
  void expect_all() {
    for (const auto& [sequence, numbers] : wanted_) {
      ASSERT_EQ(cache_.length(sequence), std::ssize(numbers));
      const Lane none{.sequence = sequence, .count = 0};
      const KvStep step = cache_.step(std::span(&none, 1));
      for (int64_t layer = 0; layer < kLayers; ++layer) {
        const auto keys = ops::to_host(backend_, cache_.keys(layer));
        const auto values = ops::to_host(backend_, cache_.values(layer));
        for (size_t i = 0; i < numbers.size(); ++i) {
          const auto row = static_cast<size_t>(
              cache_.table(layer, step)
                  .row(cache_.spans(layer, step)[0].begin + static_cast<int64_t>(i)));
          ASSERT_EQ(keys[row], in_layer(numbers[i], layer)) << sequence << " at " << i;
          ASSERT_EQ(values[row], in_layer(-numbers[i], layer)) << sequence << " at " << i;
        }
      }
    }
  }

  RefBackend backend_;
  KvCache cache_{backend_,
                 {.layers = kLayers,
                  .width = 1,
                  .sequences = kMost,
                  .capacity = kCapacity,
                  .in_place = GetParam()},
                 DType::F32};
  std::map<int64_t, std::vector<float>> wanted_;

 private:
  int last_ = 0;
};

TEST_P(KvCacheTest, SequencesKeepWhatTheyHoldWhileTheyGrowToTheirCapacity) {
  const int64_t a = add();
  const int64_t b = add();
  const int64_t c = add();
  for (int64_t position = 0; position < kCapacity; ++position) {
    write({{.sequence = c, .count = 1}, {.sequence = a, .count = 1}, {.sequence = b, .count = 1}});
  }
  expect_all();
  constexpr int64_t kSlabs = 8;  // three times nineteen pages
  EXPECT_EQ(cache_.bytes(), bytes_of_slabs(kSlabs, kLayers)) << "no more than was promised";
}

TEST_P(KvCacheTest, AShortTextTakesLittleMemory) {
  write(add(), 1);
  EXPECT_LE(cache_.bytes(), bytes_of_slabs(2, kLayers));
}

TEST_P(KvCacheTest, WhatIsSharedTakesNoMemoryUntilItParts) {
  const int64_t a = add();
  write(a, 40);  // two pages and a half
  const int64_t b = fork(a, 40);
  EXPECT_EQ(cache_.pages_in_use(), 3);
  write(b, 1);
  EXPECT_EQ(cache_.pages_in_use(), 4) << "its own half page";
  write(a, 1);
  EXPECT_EQ(cache_.pages_in_use(), 4) << "which nobody shares any more";
  expect_all();
  remove(a);
  EXPECT_EQ(cache_.pages_in_use(), 3);
  write(b, 30);
  expect_all();
}

TEST_P(KvCacheTest, APrefixCanEndInsideAPage) {
  const int64_t a = add();
  write(a, 40);
  const int64_t b = fork(a, 20);
  const int64_t c = fork(a, 0);
  write({{.sequence = a, .count = 3}, {.sequence = b, .count = 5}, {.sequence = c, .count = 17}});
  expect_all();
}

TEST_P(KvCacheTest, TheLastOfThoseThatSharedWritesInPlace) {
  const int64_t a = add();
  write(a, 5);
  const int64_t b = fork(a, 3);
  remove(a);
  write(b, 4);
  EXPECT_EQ(cache_.pages_in_use(), 1);
  expect_all();
}

// A step's pages are there before it, and nothing that it does depends on being asked twice.
TEST_P(KvCacheTest, ReservingTwiceIsReservingOnce) {
  const int64_t a = add();
  write(a, 20);
  const int64_t b = fork(a, 20);
  const std::vector<Lane> next = {{.sequence = a, .count = 20}, {.sequence = b, .count = 1}};
  cache_.reserve(next);
  const std::byte* const memory = cache_.keys(0).raw();
  const int64_t pages = cache_.pages_in_use();
  cache_.reserve(next);
  EXPECT_EQ(cache_.keys(0).raw(), memory);
  EXPECT_EQ(cache_.pages_in_use(), pages);
  write(next);
  expect_all();
}

TEST_P(KvCacheTest, HoldsThroughAThousandRandomSteps) {
  std::mt19937 random(7);
  const auto below = [&](size_t n) { return static_cast<int64_t>(random() % n); };
  const auto any = [&] { return std::next(wanted_.begin(), below(wanted_.size()))->first; };
  add();
  for (int step = 0; step < 1000; ++step) {
    const int64_t what = below(10);
    const int64_t one = any();
    if (what == 0 && wanted_.size() < 8) {
      add();
    } else if (what <= 2 && wanted_.size() < 8) {
      fork(one, below(static_cast<size_t>(cache_.length(one)) + 1));
    } else if (what == 3 && wanted_.size() > 1) {
      remove(one);
    } else {
      std::vector<Lane> lanes;
      for (const auto& [sequence, numbers] : wanted_) {
        const int64_t count = std::min(below(20), kCapacity - cache_.length(sequence));
        if (count > 0 && below(2) == 0) {
          lanes.push_back({.sequence = sequence, .count = count});
        }
      }
      write(lanes);
    }
    if (step % 20 == 0) {
      expect_all();
    }
  }
  expect_all();
  while (!wanted_.empty()) {
    remove(any());
  }
  EXPECT_EQ(cache_.pages_in_use(), 0);
}

INSTANTIATE_TEST_SUITE_P(InPlaceOrNot, KvCacheTest, testing::Bool());

// Nothing moves up to what is usual, and memory is what was written.
TEST(KvCacheInPlace, GrowsWhereItIs) {
  RefBackend backend;
  constexpr int64_t kSlabs = 6;
  constexpr int64_t kRows = KvCache::kSlabPages * KvCache::kPageRows;
  KvCache cache(
      backend,
      {.layers = 1, .width = 1, .sequences = 1, .capacity = kSlabs * kRows, .in_place = true},
      DType::F32);
  const auto add_slab = [&](int64_t sequence) {
    const Lane lane{.sequence = sequence, .count = kRows};
    cache.reserve(std::span(&lane, 1));
    const KvStep step = cache.step(std::span(&lane, 1));
    const std::vector<float> numbers(kRows, static_cast<float>(cache.length(sequence) + 1));
    const Tensor rows = ops::from_host(backend, numbers, {kRows, 1});
    cache.write(0, rows, rows, step);
    cache.advance(std::span(&lane, 1));
  };
  const int64_t text = cache.add();
  add_slab(text);
  const std::byte* const memory = cache.keys(0).raw();
  for (int64_t slab = 2; slab <= kSlabs; ++slab) {
    EXPECT_EQ(cache.bytes(), bytes_of_slabs(slab - 1));
    add_slab(text);
    EXPECT_EQ(cache.keys(0).raw(), memory);
  }
  add_slab(cache.add());
  EXPECT_EQ(cache.bytes(), bytes_of_slabs(kSlabs + 1)) << "beyond what is usual";
  const Lane none{.sequence = text, .count = 0};
  const KvStep step = cache.step(std::span(&none, 1));
  const std::vector<float> keys = ops::to_host(backend, cache.keys(0));
  for (int64_t i = 0; i < kSlabs * kRows; ++i) {
    const int64_t begin_of_slab = i / kRows * kRows;
    ASSERT_EQ(
        keys[static_cast<size_t>(cache.table(0, step).row(cache.spans(0, step)[0].begin + i))],
        static_cast<float>(begin_of_slab + 1))
        << i;
  }
}

TEST(KvCacheOfSeveralWidths, KeepsWhatItHoldsWhenItGrowsAndParts) {
  RefBackend backend;
  KvCache cache(backend, {.layers = 4, .sequences = 2, .capacity = 200, .widths = {2, 5, 2, 1}},
                DType::F32);
  const auto numbers = [&](int64_t layer, int64_t first, int64_t count) {
    std::vector<float> values;
    const int64_t width = cache.keys(layer).dim(1);
    for (int64_t i = first * width; i < (first + count) * width; ++i) {
      values.push_back(static_cast<float>(1000 * layer + i));
    }
    return ops::from_host(backend, values, {count, width});
  };
  const auto write = [&](int64_t sequence, int64_t count) {
    const Lane lane{.sequence = sequence, .count = count};
    cache.reserve({&lane, 1});
    const KvStep step = cache.step({&lane, 1});
    for (int64_t layer = 0; layer < 4; ++layer) {
      const Tensor rows = numbers(layer, cache.length(sequence), count);
      cache.write(layer, rows, ops::negate(backend, rows), step);
    }
    cache.advance({&lane, 1});
  };
  const int64_t first = cache.add();
  write(first, 20);
  const int64_t second = cache.fork(first, 20);
  write(first, 100);
  write(second, 30);
  for (const auto& [sequence, count] : {std::pair{first, 120}, std::pair{second, 50}}) {
    const Lane none{.sequence = sequence, .count = 0};
    const KvStep step = cache.step({&none, 1});
    for (int64_t layer = 0; layer < 4; ++layer) {
      const std::vector<float> wanted = ops::to_host(backend, numbers(layer, 0, count));
      const std::vector<float> keys = ops::to_host(backend, cache.keys(layer));
      const std::vector<float> values = ops::to_host(backend, cache.values(layer));
      const int64_t width = cache.keys(layer).dim(1);
      for (int64_t i = 0; i < count * width; ++i) {
        const auto at = static_cast<size_t>(
            cache.table(layer, step).row(cache.spans(layer, step)[0].begin + i / width) * width +
            i % width);
        ASSERT_EQ(keys[at], wanted[static_cast<size_t>(i)]) << sequence << ' ' << layer;
        ASSERT_EQ(values[at], -wanted[static_cast<size_t>(i)]) << sequence << ' ' << layer;
      }
    }
  }
  EXPECT_EQ(cache.bytes(), bytes_of_slabs(2, 2 + 5 + 2 + 1));
}

// A sequence's states are its own: zeros at first, copied by a fork, there while others come.
TEST(KvCacheStates, AreOfASequence) {
  RefBackend backend;
  KvCache cache(backend,
                {.layers = 1, .width = 1, .sequences = 1, .capacity = 64, .states = {3, 2}},
                DType::F32);
  const auto slot = [&](int64_t sequence) {
    const Lane lane{.sequence = sequence, .count = 0};
    return cache.step({&lane, 1}).slots;
  };
  const auto write = [&](int64_t sequence, float value) {
    for (int64_t state = 0; state < 2; ++state) {
      const std::vector<float> values(3, value + static_cast<float>(state));
      const int64_t width = 3 - state;
      const Tensor row =
          ops::from_host(backend, std::span(values).first(static_cast<size_t>(width)), {1, width});
      ops::scatter_rows(backend, row, slot(sequence), cache.state(state));
    }
  };
  const auto read = [&](int64_t sequence) {
    std::vector<float> all;
    for (int64_t state = 0; state < 2; ++state) {
      const Tensor row = ops::gather_rows(backend, cache.state(state), slot(sequence));
      const auto values = ops::to_host(backend, row);
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  };
  const std::vector<float> zeros(5, 0.0F);
  const int64_t a = cache.add();
  EXPECT_EQ(read(a), zeros);
  write(a, 10);
  const int64_t b = cache.fork(a, 0);
  EXPECT_EQ(read(b), zeros) << "nothing of it is there";
  write(b, 20);
  const Lane two{.sequence = a, .count = 2};
  cache.reserve({&two, 1});
  cache.advance({&two, 1});
  const int64_t c = cache.fork(a, 2);
  EXPECT_EQ(read(c), (std::vector<float>{10, 10, 10, 11, 11}));
  write(c, 30);
  for (int i = 0; i < 20; ++i) {
    write(cache.add(), 40);
  }
  EXPECT_EQ(read(a), (std::vector<float>{10, 10, 10, 11, 11}));
  EXPECT_EQ(read(b), (std::vector<float>{20, 20, 20, 21, 21}));
  EXPECT_EQ(read(c), (std::vector<float>{30, 30, 30, 31, 31}));
  cache.remove(b);
  EXPECT_EQ(read(cache.add()), zeros) << "whoever had its place before";
}

constexpr int64_t kSlabRows = KvCache::kSlabPages * KvCache::kPageRows;

// What is copied while it grows is there twice: planned for it is a half more than it has at most.
TEST(KvCache, WhileItGrowsItTakesAHalfMoreThanItHasAtMost) {
  RefBackend backend;
  for (const int64_t most : {1, 2, 5, 7, 16, 17, 60, 64, 100, 129}) {
    KvCache cache(backend, {.layers = 1, .width = 1, .sequences = 1, .capacity = most * kSlabRows},
                  DType::F32);
    const int64_t text = cache.add();
    size_t before = 0;
    for (int64_t slab = 0; slab < most; ++slab) {
      const Lane lane{.sequence = text, .count = kSlabRows};
      cache.reserve(std::span(&lane, 1));
      cache.advance(std::span(&lane, 1));
      if (cache.bytes() > before) {
        EXPECT_LE(2 * (before + cache.bytes()), 3 * bytes_of_slabs(most)) << most;
      }
      before = cache.bytes();
    }
    EXPECT_EQ(cache.bytes(), bytes_of_slabs(most));
  }
}

// More texts than are usual: it grows by a quarter, and not page by page.
TEST(KvCache, BeyondWhatIsUsualItGrowsInSteps) {
  RefBackend backend;
  constexpr int64_t kPages = 64;
  KvCache cache(backend,
                {.layers = 1, .width = 1, .sequences = 1, .capacity = kPages * KvCache::kPageRows},
                DType::F32);
  int moves = 0;
  size_t before = 0;
  for (int64_t text = 0; text < 4 * kPages; ++text) {
    const Lane lane{.sequence = cache.add(), .count = 1};
    cache.reserve(std::span(&lane, 1));
    cache.advance(std::span(&lane, 1));
    moves += cache.bytes() > before ? 1 : 0;
    before = cache.bytes();
  }
  EXPECT_EQ(cache.pages_in_use(), 4 * kPages);
  EXPECT_EQ(moves, 10) << "1, 2, 4, 8 slabs and six times a quarter more";
}

TEST(KvCache, WhereMemoryIsShortItTakesWhatIsNeededAndNoMore) {
  test::LimitedBackend backend;
  KvCache cache(backend, {.layers = 1, .width = 1, .sequences = 1, .capacity = 64 * kSlabRows},
                DType::F32);
  backend.allow(bytes_of_slabs(11));
  const int64_t text = cache.add();
  const auto add_slabs = [&](int64_t slabs) {
    const Lane lane{.sequence = text, .count = slabs * kSlabRows};
    return or_device_error([&] {
      cache.reserve(std::span(&lane, 1));
      cache.advance(std::span(&lane, 1));
    });
  };
  ASSERT_TRUE(add_slabs(8));
  ASSERT_TRUE(add_slabs(3)) << "sixteen are too many, eleven are not";
  EXPECT_EQ(cache.bytes(), bytes_of_slabs(11));
  const Status full = add_slabs(1);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, ErrorCode::OutOfMemory);
  EXPECT_EQ(cache.length(text), 11 * kSlabRows);
}

}  // namespace
}  // namespace mynah
