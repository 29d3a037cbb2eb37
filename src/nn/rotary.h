// Rotary: how positions turn a head's pairs of columns (Su et al. 2021, arXiv:2104.09864).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ops/ops.h"

namespace mynah {

struct Rotary {
  // What a position turns each pair by, in radians; as many as pairs, at most half a head's
  // columns. The columns behind the pairs stay as they are.
  std::vector<double> frequencies;
  float magnitude = 1.0F;  // the turned columns are multiplied with it (YaRN)
  RopePairs pairs = RopePairs::Halves;
};

// base^(-2 i / dimensions) for each of dimensions / 2 pairs.
[[nodiscard]] std::vector<double> rotary_frequencies(double base, int64_t dimensions);

// YaRN (Peng et al. 2023, arXiv:2309.00071, sections 3.2 to 3.4): pairs that turn less than
// `slow` times in the context that was trained are slowed down by `factor`, those that turn more
// than `fast` times are left, and between them both are mixed.
struct Yarn {
  double factor = 1;
  double original_context = 0;  // positions
  double fast = 32;
  double slow = 1;
};

[[nodiscard]] std::vector<double> yarn_frequencies(double base, int64_t dimensions,
                                                   const Yarn& yarn);

// What YaRN multiplies turned columns with (its equation 22), or with another weight of the
// logarithm than 1 (DeepSeek-V2's mscale_all_dim, which divides by it).
[[nodiscard]] float yarn_magnitude(double factor, double weight = 1);

// Cosines, then sines, of each position, times its scale where there are any: (positions, 2 pairs),
// for ops::rope().
[[nodiscard]] Tensor rotations(Backend& backend, const Rotary& rotary,
                               std::span<const int32_t> positions,
                               std::span<const float> scales = {});

}  // namespace mynah
