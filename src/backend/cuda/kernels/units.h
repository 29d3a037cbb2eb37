// Products on matrix units: what the kernels for many rows and for few have in common.
//
// Weights are A, whose 16 rows are two panels (weight_layout.h), activations are B, a panel of
// eight rows packed alike (pack_rows.cu, quantize_rows.cu). Four units of 16 bytes side by side
// along k are a step: 32 elements of half precision, or 64 codes. A lane has unit lane() % 4 of
// row lane() / 4 on either side, whole: its first two words are operands of one product, the last
// two of the next. That takes the elements of a step in another order than they stand in, the same
// on both sides, so that one access of 16 bytes brings a lane the operands of two products.
// Warpgroups (units_warpgroup.h) take elements as they stand, and so does every kernel of level 90:
// a lane has word lane() % 4 of row lane() / 4 of each of a step's units there.
//
// The order of sums: half precision adds kUnitsSumSteps steps in the unit from zero, and these sums
// one after the other in f32. So sums of long rows lose no more than short ones to the units, which
// cut off where f32 rounds, and warps can share a row of few (units_few_rows.h). It costs a kernel
// for many rows 4 additions a lane for every 8 products of the unit, and as many registers again as
// its sums take. Sums of codes are whole numbers, exact in any order.
#pragma once

#include "backend/cuda/kernels/product_args.h"
#include "backend/cuda/simt/simt.h"

namespace mynah::simt {

inline namespace MYNAH_OF_LEVEL {

inline constexpr int kStepUnits = 4;
inline constexpr int kUnitWords = kUnitBytes / 4;
inline constexpr int kStepWords = kStepUnits * kPanel * kUnitWords;  // of a panel

template <Storage kStorage>
struct UnitsType {
  using Sum = float;
  static constexpr int kUnits = kStepUnits;  // of a chunk
};

template <>
struct UnitsType<Storage::I8> {
  using Sum = int;
  static constexpr int kUnits = kStepUnits / 2;
};

template <Storage kStorage>
inline int units_of_row(const Weights& weights) {
  return static_cast<int>(weights.chunks) * UnitsType<kStorage>::kUnits;
}

// The row of tiles that a block computes; the column is block_index_y(). Blocks run in the order of
// x, then y, then z: those that run at once share sides on both axes where x is a few rows of tiles
// (units_grid() in ops_units.cpp).
MYNAH_INLINE int64_t row_of_tiles() {
  return static_cast<int64_t>(block_index_z()) * block_count_x() + block_index_x();
}

// A lane's operands of a step: below level 90 a unit.
using Unit = Vector<uint32_t, kUnitWords>;

// Where they begin, in words from a step of a panel on.
MYNAH_INLINE int own_place() {
  return kLevel >= 90 ? lane() : (lane() % kStepUnits * kPanel + lane() / kStepUnits) * kUnitWords;
}

// The units of the step `at` words on in a view that begins at own_place().
MYNAH_INLINE Unit load_own(const Global<const uint32_t>& from, int64_t at) {
  if constexpr (kLevel >= 90) {
    Unit unit;
    MYNAH_UNROLLED
    for (int word = 0; word < kUnitWords; ++word) {
      unit[word] = from[at + word * (kPanel * kUnitWords)];
    }
    return unit;
  } else {
    return from.load<kUnitWords>(at);
  }
}

// Of a step of half precision: the element that they begin with, and how far on word `word` does.
MYNAH_INLINE int own_element() {
  return lane() % kStepUnits * (kLevel >= 90 ? 2 : 2 * kUnitWords);
}

constexpr int element_of_word(int word) {
  return word * (kLevel >= 90 ? 2 * kUnitWords : 2);
}

// The products of one step: of two panels of weights and one of activations.
template <Storage kStorage>
MYNAH_INLINE void multiply_step(const Unit& low, const Unit& high, const Unit& x,
                                typename UnitsType<kStorage>::Sum (&sums)[4]) {
  MYNAH_UNROLLED
  for (int word = 0; word < kUnitWords; word += 2) {
    const uint32_t a[4] = {low[word], high[word], low[word + 1], high[word + 1]};
    const uint32_t b[2] = {x[word], x[word + 1]};
    if constexpr (kStorage == Storage::I8) {
      multiply_codes(a, b, sums);
    } else if constexpr (kStorage == Storage::F16) {
      multiply_matrices<F16>(a, b, sums);
    } else {
      multiply_matrices<Bf16>(a, b, sums);
    }
  }
}

}  // namespace MYNAH_OF_LEVEL

}  // namespace mynah::simt
