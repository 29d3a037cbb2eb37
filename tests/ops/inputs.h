// Numbers that cases compute with: the same on every machine.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/backend.h"

namespace mynah::cases {

// SplitMix64 (Steele, Lea & Flood 2014): small, seeded by any number, equal everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ULL + 1) {}

  uint64_t bits();
  // In [0, 1).
  float uniform();
  // About a standard normal (the sum of four uniforms), within +-3.5.
  float normal();
  // In [0, n).
  int64_t below(int64_t n);

 private:
  uint64_t state_;
};

std::vector<float> normals(int64_t count, uint64_t seed, float scale = 1.0F);

// How a matrix lies in memory. Strided: inside a wider one whose other columns are NaN and at an
// address that no vector is aligned to.
enum class Layout : uint8_t { Contiguous, Strided };

// (rows, columns) on the backend.
Tensor matrix(Backend& backend, std::span<const float> values, int64_t rows, int64_t columns,
              Layout layout = Layout::Contiguous);

// The values as blocks of a type that can_quantize(), on the backend.
Tensor blocks(Backend& backend, std::span<const float> values, const Shape& shape, DType dtype);

// A tensor of host memory, as a file would give it: f32 values rounded to any float type or, for
// the types that mynah does not write, random bytes (the K types' scales small). Rows are the last
// dimension.
Tensor host_tensor(const Shape& shape, DType dtype, uint64_t seed, float scale = 1.0F);

// Every type that linear() may keep weights in.
std::span<const DType> weight_types();

}  // namespace mynah::cases
