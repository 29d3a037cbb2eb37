// Angles of rotary positions: as exact for positions far away as for near ones.
#include "nn/rotary.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "backend/ref/ref_backend.h"

namespace mynah {
namespace {

TEST(Rotary, FarPositionsTurnAsExactlyAsNearOnes) {
  const auto backend = make_ref_backend();
  const std::vector<int32_t> positions = {0,       1,         4095,          99'999,
                                          131'071, 1'000'003, 2'147'483'647, -77'777};
  constexpr int64_t kDimensions = 128;
  for (const double base : {10'000.0, 1'000'000.0}) {
    const Rotary rotary{.frequencies = rotary_frequencies(base, kDimensions)};
    const std::vector<float> turns = ops::to_host(*backend, rotations(*backend, rotary, positions));
    ASSERT_EQ(turns.size(), positions.size() * kDimensions);
    for (size_t row = 0; row < positions.size(); ++row) {
      for (size_t pair = 0; pair < kDimensions / 2; ++pair) {
        const long double angle = static_cast<long double>(positions[row]) *
                                  std::pow(static_cast<long double>(base),
                                           -2 * static_cast<long double>(pair) / kDimensions);
        const float cosine = turns[row * kDimensions + pair];
        const float sine = turns[row * kDimensions + kDimensions / 2 + pair];
        // Half a step of f32 at 1, and what a frequency in f64 rounds of the angle.
        const double bound = 0x1p-24 + 0x1p-52 * std::abs(static_cast<double>(angle));
        EXPECT_NEAR(cosine, static_cast<double>(std::cos(angle)), bound) << row << ", " << pair;
        EXPECT_NEAR(sine, static_cast<double>(std::sin(angle)), bound) << row << ", " << pair;
      }
    }
  }
}

}  // namespace
}  // namespace mynah
