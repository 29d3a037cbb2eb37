// The kernels of one storage type: a .cu file each, so that a driver compiles only those that a
// model needs.
#pragma once

#include "backend/cuda/kernels/conv1d.h"
#include "backend/cuda/kernels/few_rows.h"
#include "backend/cuda/kernels/few_rows_int8.h"
#include "backend/cuda/kernels/linear.h"
#include "backend/cuda/kernels/linear_int8.h"
#if MYNAH_LEVEL >= 75
#include "backend/cuda/kernels/units_int8.h"
#define MYNAH_LINEAR_INT8_ROWS linear_int8_units
#else
#define MYNAH_LINEAR_INT8_ROWS linear_int8_rows
#endif

// linear in f32, of many rows and of few.
#define MYNAH_DEFINE_PRODUCTS(type, storage)                        \
  MYNAH_KERNEL(linear_##type, LinearArgs, kTileThreads) {           \
    linear_rows<storage>(args);                                     \
  }                                                                 \
  MYNAH_KERNEL(few_rows_##type, LinearArgs, kFewRowsWarps* kWarp) { \
    few_rows<storage>(args);                                        \
  }

// The same of activations rounded to int8; of many rows on matrix units where the level has them.
#define MYNAH_DEFINE_INT8_PRODUCTS(type, storage)                        \
  MYNAH_KERNEL(linear_int8_##type, LinearArgs, kTileThreads) {           \
    MYNAH_LINEAR_INT8_ROWS<storage>(args);                               \
  }                                                                      \
  MYNAH_KERNEL(few_rows_int8_##type, LinearArgs, kFewRowsWarps* kWarp) { \
    few_rows_int8<storage>(args);                                        \
  }

#define MYNAH_DEFINE_CONV1D(type, storage)                \
  MYNAH_KERNEL(conv1d_##type, Conv1dArgs, kTileThreads) { \
    conv1d_windows<storage>(args);                        \
  }
