// The kernels of one storage type on matrix units: a .cu file each, as products.h.
#pragma once

#include "backend/cuda/kernels/units_few_rows.h"
#include "backend/cuda/kernels/units_linear.h"

// linear of packed rows, by tiles of 128 by 128 and of 64 by 64.
#define MYNAH_DEFINE_UNITS_LINEAR(type, storage)                               \
  MYNAH_KERNEL(units_linear_##type##_128, UnitsArgs, UnitsTile128::kThreads) { \
    units_linear<UnitsTile128, storage>(args);                                 \
  }                                                                            \
  MYNAH_KERNEL(units_linear_##type##_64, UnitsArgs, UnitsTile64::kThreads) {   \
    units_linear<UnitsTile64, storage>(args);                                  \
  }

#define MYNAH_DEFINE_UNITS_FEW_ROWS(type, storage)                            \
  MYNAH_KERNEL(units_few_rows_##type, UnitsArgs, kUnitsFewRowsWarps* kWarp) { \
    units_few_rows<storage>(args);                                            \
  }
