// KvCache: what was written stays where it belongs while slots grow and change places.
#include "nn/kv_cache.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/ref/ref_backend.h"

namespace mynah {
namespace {

using testing::ElementsAre;

class KvCacheTest : public testing::Test {
 protected:
  static constexpr int64_t kSlots = 3;
  static constexpr int64_t kCapacity = 300;

  // Position `position` of slot s holds the number 1000 s + position as key, its negative as value.
  void write(int64_t slot) {
    const int64_t position = cache_.length(slot);
    cache_.make_room(position + 1);
    const std::vector<float> number = {static_cast<float>(1000 * slot + position)};
    const std::vector<float> negative = {-number[0]};
    const std::vector<int32_t> row = {static_cast<int32_t>(cache_.span(slot).begin + position)};
    cache_.write(0, tensor(number), tensor(negative),
                 ops::from_host(backend_, std::span<const int32_t>(row), {1}));
    cache_.set_length(slot, position + 1);
  }

  Tensor tensor(const std::vector<float>& number) {
    return ops::from_host(backend_, std::span<const float>(number), {1, 1});
  }

  std::vector<float> keys(int64_t slot) {
    const Span span = cache_.span(slot);
    return ops::to_host(backend_, cache_.keys(0).narrow(0, span.begin, span.length));
  }

  std::vector<float> values(int64_t slot) {
    const Span span = cache_.span(slot);
    return ops::to_host(backend_, cache_.values(0).narrow(0, span.begin, span.length));
  }

  // 1000 slot, 1000 slot + 1, ...
  static std::vector<float> numbers(int64_t slot, int64_t count, float sign) {
    std::vector<float> all;
    all.reserve(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
      all.push_back(sign * static_cast<float>(1000 * slot + i));
    }
    return all;
  }

  RefBackend backend_;
  KvCache cache_{
      backend_, {.layers = 1, .slots = kSlots, .capacity = kCapacity, .width = 1}, DType::F32};
};

TEST_F(KvCacheTest, SlotsKeepWhatTheyHoldWhileTheyGrowToTheirCapacity) {
  for (int64_t position = 0; position < kCapacity; ++position) {
    write(1);
    if (position < 5) {
      write(2);
    }
  }
  EXPECT_EQ(keys(1), numbers(1, kCapacity, 1.0F));
  EXPECT_EQ(values(1), numbers(1, kCapacity, -1.0F));
  EXPECT_EQ(keys(2), numbers(2, 5, 1.0F));
  EXPECT_EQ(cache_.keys(0).dim(0), kSlots * kCapacity) << "no more than was promised";
}

TEST_F(KvCacheTest, AShortTextTakesLittleMemory) {
  write(0);
  EXPECT_LT(cache_.keys(0).dim(0), kSlots * kCapacity / 2);
}

TEST_F(KvCacheTest, RearrangedSlotsGrowLikeOthers) {
  for (int i = 0; i < 60; ++i) {
    write(0);
  }
  write(1);
  cache_.rearrange(std::vector<int64_t>{1, 0, 0});
  EXPECT_THAT(keys(0), ElementsAre(1000.0F));
  for (int i = 0; i < 60; ++i) {
    write(1);
  }
  std::vector<float> wanted = numbers(0, 60, 1.0F);
  for (int i = 60; i < 120; ++i) {
    wanted.push_back(static_cast<float>(1000 + i));
  }
  EXPECT_EQ(keys(1), wanted);
  EXPECT_EQ(keys(2), numbers(0, 60, 1.0F));
  EXPECT_THAT(values(0), ElementsAre(-1000.0F));
}

}  // namespace
}  // namespace mynah
