// The front end against pymicro-features, bit for bit (tools/wake_oracle.py).
#include "models/wake_word/micro_features.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "oracle_arrays.h"

namespace mynah::wake_word {
namespace {

test::OracleArrays golden() {
  auto arrays =
      test::OracleArrays::open(test::source_path("tests/models/wake_word/golden/golden.npz"));
  EXPECT_TRUE(arrays) << arrays.error().message;
  return std::move(*arrays);
}

std::vector<int16_t> golden_samples() {
  const std::vector<int32_t> wide = golden().values<int32_t>("samples");
  return {wide.begin(), wide.end()};
}

std::vector<FeatureFrame> heard_at_once(std::span<const int16_t> samples) {
  return MicroFeatures().push(samples);
}

TEST(MicroFeatures, AreThoseOfTheReferenceToTheLastBit) {
  const std::vector<int32_t> wanted = golden().values<int32_t>("features");
  const std::vector<FeatureFrame> found = heard_at_once(golden_samples());
  ASSERT_EQ(found.size() * kFeatureChannels, wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ(found[i / kFeatureChannels][i % kFeatureChannels], wanted[i])
        << "frame " << i / kFeatureChannels << ", channel " << i % kFeatureChannels;
  }
}

TEST(MicroFeatures, AreTheSameHoweverTheSamplesAreCut) {
  const std::vector<int16_t> samples = golden_samples();
  const std::vector<FeatureFrame> whole = heard_at_once(samples);
  std::mt19937 random(7);
  for (int round = 0; round < 5; ++round) {
    MicroFeatures features;
    std::vector<FeatureFrame> found;
    for (std::span<const int16_t> left = samples; !left.empty();) {
      const size_t size = std::min<size_t>(left.size(), random() % 700);
      const auto frames = features.push(left.first(size));
      found.insert(found.end(), frames.begin(), frames.end());
      left = left.subspan(size);
    }
    EXPECT_EQ(found, whole);
  }
}

TEST(MicroFeatures, BeginAnewAfterAReset) {
  const std::vector<int16_t> samples = golden_samples();
  MicroFeatures features;
  static_cast<void>(features.push(samples));
  features.reset();
  EXPECT_EQ(features.push(samples), heard_at_once(samples));
}

TEST(MicroFeatures, NeedThirtyMillisecondsAndThenTen) {
  MicroFeatures features;
  EXPECT_TRUE(features.push(std::vector<int16_t>(kFeatureWindow - 1)).empty());
  EXPECT_EQ(features.push(std::vector<int16_t>(1)).size(), 1U);
  EXPECT_EQ(features.push(std::vector<int16_t>(5 * kFeatureStep)).size(), 5U);
  EXPECT_EQ(features.push(std::vector<int16_t>()).size(), 0U);
}

}  // namespace
}  // namespace mynah::wake_word
