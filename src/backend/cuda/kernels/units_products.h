// The kernels of one storage type on matrix units: a .cu file each, as products.h.
#pragma once

#include "backend/cuda/kernels/units_conv1d.h"
#include "backend/cuda/kernels/units_few_rows.h"
#include "backend/cuda/kernels/units_linear.h"
#include "backend/cuda/kernels/units_warpgroup.h"

namespace mynah::simt {

inline namespace MYNAH_OF_LEVEL {

// Where sums leave it room a kernel is told of more threads than a block has, and so keeps to 128
// registers: several blocks stand on a processor then. It needs more where copies go through
// registers, below level 80.
template <class Tile>
inline constexpr int kThreadsAtOnce = kLevel >= 80 ? kUnitsThreadsAtOnce : Tile::kThreads;

template <Storage kStorage>
MYNAH_INLINE void units_linear_128(const UnitsArgs& args) {
#if MYNAH_LEVEL >= 90
  units_warpgroup_linear<kStorage>(args);
#else
  units_linear<UnitsTile128, kStorage>(args);
#endif
}

}  // namespace MYNAH_OF_LEVEL

}  // namespace mynah::simt

// linear of packed rows, by tiles of 128 by 128, told of so many threads, and of 64 by 64.
#define MYNAH_DEFINE_UNITS_LINEAR(type, storage, threads_of_128)                   \
  MYNAH_KERNEL(units_linear_##type##_128, UnitsArgs, threads_of_128) {             \
    units_linear_128<storage>(args);                                               \
  }                                                                                \
  MYNAH_KERNEL(units_linear_##type##_64, UnitsArgs, kThreadsAtOnce<UnitsTile64>) { \
    units_linear<UnitsTile64, storage>(args);                                      \
  }

// conv1d that reads windows in place, by the same tiles.
#define MYNAH_DEFINE_UNITS_CONV1D(type, storage)                                   \
  MYNAH_KERNEL(units_conv1d_##type##_128, UnitsArgs, UnitsTile128::kThreads) {     \
    units_conv1d<UnitsTile128, storage>(args);                                     \
  }                                                                                \
  MYNAH_KERNEL(units_conv1d_##type##_64, UnitsArgs, kThreadsAtOnce<UnitsTile64>) { \
    units_conv1d<UnitsTile64, storage>(args);                                      \
  }

#define MYNAH_DEFINE_UNITS_FEW_ROWS(type, storage)                            \
  MYNAH_KERNEL(units_few_rows_##type, UnitsArgs, kUnitsFewRowsWarps* kWarp) { \
    units_few_rows<storage>(args);                                            \
  }
