// What the kernels of reductions.cu are given.
#pragma once

#include "backend/cuda/kernels/views.h"

namespace mynah::simt {

// A block a row. `scale` is what reduce_sum multiplies the sum by.
struct ReduceArgs {
  Rows x;
  float* out;
  int64_t columns;
  float scale;
};

struct ArgmaxArgs {
  Rows x;
  int32_t* out;
  int64_t columns;
};

struct CumsumArgs {
  Rows x;
  OutRows out;
  int64_t columns;
};

// A thread an element. Rows of `width` / 2 elements or fewer stay as they are.
struct MedianArgs {
  Rows x;
  OutRows out;
  int64_t rows;
  int64_t columns;
  int64_t width;
};

}  // namespace mynah::simt

// The kernels: kernels/list.h has what X is given.
#define MYNAH_REDUCTION_KERNELS(X)      \
  X(reductions, reduce_sum, ReduceArgs) \
  X(reductions, reduce_max, ReduceArgs) \
  X(reductions, argmax, ArgmaxArgs)     \
  X(reductions, cumsum, CumsumArgs)     \
  X(reductions, median_filter, MedianArgs)
