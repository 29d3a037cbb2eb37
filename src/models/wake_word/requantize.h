// Whole numbers as TensorFlow Lite multiplies them with a ratio of scales: a fraction of 31 bits
// and a shift, rounded twice. Its kernels for x86 do the second as NEON's vrshl does, halves up;
// its plain loops round halves away from zero (gemmlowp's RoundingDivideByPOT): one sum in a
// thousand differs.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace mynah::wake_word {

enum class Halves : uint8_t { Up, AwayFromZero };

// A ratio of scales.
struct Ratio {
  int32_t fraction = 0;  // of 2^31: 0, or from a half to below one
  int shift = 0;         // the power of two that it is multiplied with

  // `value` from 0 on, below 2^30; what 31 bits behind the point do not show is 0.
  static Ratio of(double value) {
    if (value == 0) {
      return {};
    }
    constexpr int kBits = 31;
    Ratio ratio;
    const double part = std::frexp(value, &ratio.shift);
    int64_t fraction = std::llround(part * static_cast<double>(int64_t{1} << kBits));
    if (fraction == int64_t{1} << kBits) {
      fraction /= 2;
      ++ratio.shift;
    }
    if (ratio.shift < -kBits) {
      return {};
    }
    ratio.fraction = static_cast<int32_t>(fraction);
    return ratio;
  }

  // sum * ratio as a whole number. A shift to the left wraps at 32 bits.
  [[nodiscard]] int32_t times(int32_t sum, Halves halves) const {
    const auto shifted =
        shift > 0 ? static_cast<int32_t>(static_cast<uint32_t>(sum) << shift) : sum;
    constexpr int kBits = 31;
    const int64_t product = int64_t{shifted} * fraction;
    const auto high = static_cast<int32_t>((product + (int64_t{1} << (kBits - 1))) >> kBits);
    if (shift >= 0) {
      return high;
    }
    const int64_t half = int64_t{1} << (-shift - 1);
    const int64_t down = halves == Halves::AwayFromZero && high < 0 ? 1 : 0;
    return static_cast<int32_t>((high + half - down) >> -shift);
  }
};

// As an int8 code: `sum` times the ratio, moved by the zero point, between two codes.
[[nodiscard]] inline int8_t code_of(int32_t sum, const Ratio& ratio, Halves halves, int32_t zero,
                                    int32_t least, int32_t most) {
  const int64_t moved = int64_t{ratio.times(sum, halves)} + zero;
  return static_cast<int8_t>(moved < least ? least : moved > most ? most : moved);
}

}  // namespace mynah::wake_word
