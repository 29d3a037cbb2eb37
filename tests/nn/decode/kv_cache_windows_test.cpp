// KvCache with layers that see windows: what a position to come sees is there, whatever was let go.
#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "backend/ref/ref_backend.h"
#include "nn/decode/kv_cache.h"

namespace mynah {
namespace {

// Layers that see all, a window of 20 and one of 200, and beside them what sequences should hold.
class KvCacheWindows : public testing::TestWithParam<bool> {
 protected:
  static constexpr int64_t kCapacity = 5000;
  static constexpr int64_t kRewinds = 30;
  static constexpr std::array<int64_t, 3> kSees = {0, 20, 200};

  struct Text {
    std::vector<float> numbers;
    int64_t longest = 0;  // that it, or what it was forked of, ever was
  };

  void write(const std::vector<Lane>& lanes) {
    cache_.reserve(lanes);
    const KvStep step = cache_.step(lanes);
    std::vector<float> numbers;
    for (const Lane& lane : lanes) {
      Text& text = texts_.at(lane.sequence);
      for (int64_t i = 0; i < lane.count; ++i) {
        numbers.push_back(static_cast<float>(++last_));
        text.numbers.push_back(numbers.back());
      }
      text.longest = std::max(text.longest, std::ssize(text.numbers));
    }
    const Tensor rows = ops::from_host(backend_, numbers, {std::ssize(numbers), 1});
    for (int64_t layer = 0; layer < std::ssize(kSees); ++layer) {
      cache_.write(layer, rows, ops::negate(backend_, rows), step);
    }
    cache_.advance(lanes);
  }

  void write(int64_t sequence, int64_t count) {
    write(std::vector<Lane>{{.sequence = sequence, .count = count}});
  }

  int64_t add() {
    const int64_t sequence = cache_.add();
    texts_[sequence] = {};
    return sequence;
  }

  int64_t fork(int64_t sequence, int64_t length) {
    const int64_t forked = cache_.fork(sequence, length);
    Text text = texts_.at(sequence);
    text.numbers.resize(static_cast<size_t>(length));
    text.longest = length == 0 ? 0 : text.longest;
    texts_[forked] = std::move(text);
    return forked;
  }

  void remove(int64_t sequence) {
    cache_.remove(sequence);
    texts_.erase(sequence);
  }

  // Each sequence has its first positions and those that the next one sees, as its table counts
  // them, and those that are seen where it is cut back.
  void expect_all() {
    for (const auto& [sequence, text] : texts_) {
      const auto length = std::ssize(text.numbers);
      ASSERT_EQ(cache_.length(sequence), length);
      if (length == 0) {
        continue;
      }
      const Lane none{.sequence = sequence, .count = 0};
      const KvStep step = cache_.step(std::span(&none, 1));
      for (int64_t layer = 0; layer < std::ssize(kSees); ++layer) {
        const int64_t window = kSees[static_cast<size_t>(layer)];
        const Span span = cache_.spans(layer, step)[0];
        const int64_t gap = length - span.length;
        ASSERT_EQ(gap % KvCache::kGapRows, 0);
        ASSERT_GE(gap, 0);
        ASSERT_TRUE(gap == 0 || KvCache::kFirstRows + gap <= text.longest - kRewinds + 1 - window)
            << gap << " of " << length;
        const auto keys = ops::to_host(backend_, cache_.keys(layer));
        const auto values = ops::to_host(backend_, cache_.values(layer));
        for (int64_t i = 0; i < length; ++i) {
          if (i >= KvCache::kFirstRows && i < KvCache::kFirstRows + gap) {
            continue;
          }
          const int64_t counted = i < KvCache::kFirstRows ? i : i - gap;
          const auto row = static_cast<size_t>(cache_.table(layer, step).row(span.begin + counted));
          ASSERT_EQ(keys[row], text.numbers[static_cast<size_t>(i)]) << sequence << " at " << i;
          ASSERT_EQ(values[row], -text.numbers[static_cast<size_t>(i)]) << sequence << " at " << i;
        }
      }
    }
  }

  RefBackend backend_;
  KvCache cache_{backend_,
                 {.layers = std::ssize(kSees),
                  .width = 1,
                  .sequences = 1,
                  .capacity = kCapacity,
                  .windows = {kSees.begin(), kSees.end()},
                  .rewinds = kRewinds,
                  .in_place = GetParam()},
                 DType::F32};
  std::map<int64_t, Text> texts_;
  int last_ = 0;
};

TEST_P(KvCacheWindows, KeepWhatIsSeen) {
  std::mt19937 random(5);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  int forks = 0;
  int refused = 0;
  for (int round = 0; round < 400; ++round) {
    if (texts_.empty() || (texts_.size() < 4 && below(6) == 0)) {
      (void)add();
    }
    const auto any = std::next(texts_.begin(), below(std::ssize(texts_)));
    const int64_t sequence = any->first;
    const auto length = std::ssize(any->second.numbers);
    switch (below(6)) {
      case 0: {
        const int64_t at = std::max<int64_t>(0, length - below(below(3) == 0 ? 600 : 60));
        const bool promised =
            any->second.longest - at <= kRewinds || any->second.longest <= kRewinds + kSees[1];
        const bool can = cache_.forks_at(sequence, at);
        ASSERT_TRUE(can || !promised) << at << " of " << length;
        if (can) {
          (void)fork(sequence, at);
          ++forks;
        } else {
          ++refused;
        }
        break;
      }
      case 1:
        if (texts_.size() > 6 || below(8) == 0) {
          remove(sequence);
        }
        break;
      default: {
        std::vector<Lane> lanes;
        for (const auto& [one, text] : texts_) {
          const int64_t count = below(4) == 0 ? below(300) : below(20);
          if (count > 0 && std::ssize(text.numbers) + count <= kCapacity) {
            lanes.push_back({.sequence = one, .count = count});
          }
        }
        if (!lanes.empty()) {
          write(lanes);
        }
      }
    }
    if (round % 5 == 0) {
      ASSERT_NO_FATAL_FAILURE(expect_all()) << round;
    }
  }
  EXPECT_GT(forks, 20);
  EXPECT_GT(refused, 5);
  while (!texts_.empty()) {
    remove(texts_.begin()->first);
  }
  for (const int64_t window : kSees) {
    EXPECT_EQ(cache_.pages_in_use(window), 0) << window;
  }
}

TEST_P(KvCacheWindows, TakeNoMoreHoweverLongATextIs) {
  const int64_t text = add();
  constexpr int64_t kPiece = 100;
  std::array<size_t, 2> bytes = {};
  for (int64_t length = 0; length + kPiece <= kCapacity; length += kPiece) {
    write(text, kPiece);
    for (const int64_t window : {kSees[1], kSees[2]}) {
      const int64_t most =
          KvCache::kFirstRows + KvCache::kGapRows + window + std::max(kPiece, kRewinds);
      EXPECT_LE(cache_.pages_in_use(window), most / KvCache::kPageRows + 1) << length;
    }
    if (length >= 1000) {
      bytes[length >= 2000 ? 1 : 0] = cache_.bytes();
    }
  }
  EXPECT_EQ(cache_.pages_in_use(), (kCapacity + KvCache::kPageRows - 1) / KvCache::kPageRows);
  // Two layers' keys and values beside those that see all.
  const auto all = static_cast<size_t>(kCapacity) * 2 * sizeof(float);
  EXPECT_LT(bytes[1], all + all / 2);
  ASSERT_NO_FATAL_FAILURE(expect_all());
}

// What is kept of a text that goes on is its window's pages, and no others.
TEST_P(KvCacheWindows, AreSharedByForks) {
  const int64_t text = add();
  write(text, 900);
  write(text, 100);
  const int64_t before = cache_.pages_in_use(kSees[1]);
  const int64_t kept = fork(text, 1000);
  EXPECT_EQ(cache_.pages_in_use(kSees[1]), before);
  EXPECT_FALSE(cache_.forks_at(kept, 500));
  EXPECT_TRUE(cache_.forks_at(kept, 970));
  EXPECT_TRUE(cache_.forks_at(kept, 0));
  for (int i = 0; i < 10; ++i) {
    write(text, 100);
  }
  write(fork(kept, 980), 10);
  EXPECT_LE(cache_.pages_in_use(kSees[1]), 3 * before) << "of three texts";
  ASSERT_NO_FATAL_FAILURE(expect_all());
}

INSTANTIATE_TEST_SUITE_P(, KvCacheWindows, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& in_place) {
                           return in_place.param ? "InPlace" : "Moving";
                         });

}  // namespace
}  // namespace mynah
