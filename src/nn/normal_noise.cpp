#include "nn/normal_noise.h"

#include <cmath>

#include "base/check.h"
#include "base/vector_clones.h"
#include "nn/host_math.h"

namespace mynah {

namespace {

// SplitMix64 (Steele, Lea and Flood 2014, Fast Splittable Pseudorandom Number Generators): keys of
// a seed.
uint64_t mixed(uint64_t z) {
  z += 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

// A number in, one that looks random out: 32 bits, so that the compiler makes vectors of it (the
// finalizer of MurmurHash3, Appleby 2011).
uint32_t scrambled(uint32_t x) {
  x ^= x >> 16U;
  x *= 0x85EBCA6BU;
  x ^= x >> 13U;
  x *= 0xC2B2AE35U;
  return x ^ (x >> 16U);
}

// In (0, 1), by the upper 24 bits.
float unit(uint32_t bits) {
  constexpr float kStep = 0x1p-24F;
  return (static_cast<float>(static_cast<int32_t>(bits >> 8U)) + 0.5F) * kStep;
}

// Box and Muller 1958, A Note on the Generation of Random Normal Deviates.
MYNAH_VECTOR_CLONES void make_pairs(uint32_t first_place, uint32_t count, uint32_t key,
                                    uint32_t other_key, float* __restrict x, float* __restrict y) {
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t place = first_place + i;
    const uint32_t first = scrambled(scrambled(place ^ key) + other_key);
    const uint32_t second = scrambled(first ^ (place * 0x9E3779B9U) ^ other_key);
    const float radius = std::sqrt(-2.0F * fast_log(unit(first)));
    const auto [sine, cosine] = fast_sine_cosine_of_turns(unit(second));
    x[i] = radius * cosine;
    y[i] = radius * sine;
  }
}

}  // namespace

NormalNoise::NormalNoise(uint64_t seed)
    : key_(static_cast<uint32_t>(mixed(seed))),
      other_key_(static_cast<uint32_t>(mixed(seed) >> 32U)) {}

void NormalNoise::next_pairs(std::span<float> x, std::span<float> y) {
  MYNAH_CHECK(x.size() == y.size(), "[normal_noise] pairs are of two spans as long");
  const auto count = static_cast<uint32_t>(x.size());
  make_pairs(used_, count, key_, other_key_, x.data(), y.data());
  used_ += count;
}

std::vector<float> NormalNoise::next(size_t count, float scale) {
  std::vector<float> numbers(count);
  if (scale == 0.0F) {
    return numbers;
  }
  const size_t half = (count + 1) / 2;
  std::vector<float> pairs(2 * half);
  next_pairs(std::span(pairs).first(half), std::span(pairs).last(half));
  for (size_t i = 0; i < count; ++i) {
    numbers[i] = scale * pairs[i];
  }
  return numbers;
}

}  // namespace mynah
