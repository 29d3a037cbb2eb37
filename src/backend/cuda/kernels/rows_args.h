// What the kernels of rows.cu are given.
#pragma once

#include "backend/cuda/kernels/views.h"

namespace mynah::simt {

// out[i] = x[numbers[i]], in words: a row is `columns` of them; strides in words.
struct GatherRowsArgs {
  const void* x;
  int64_t x_stride;
  int64_t x_rows;
  const int32_t* numbers;
  int64_t count;
  void* out;
  int64_t out_stride;
  int64_t columns;
  uint64_t* fault;  // row_faults.h: the word
};

// out[numbers[i]] = x[i]; strides in elements. Of a row that is named twice, any wins.
struct ScatterRowsArgs {
  Rows x;
  const int32_t* numbers;
  int64_t count;
  void* out;
  int64_t out_stride;
  int64_t out_rows;
  int64_t columns;
  uint64_t* fault;
};

// A block a tile of kTile rows and columns; `tiles` of them side by side in x.
inline constexpr int kTile = 32;

struct TransposeArgs {
  Rows x;
  OutRows out;
  int64_t rows;  // of x
  int64_t columns;
  int32_t tiles;
};

}  // namespace mynah::simt

// The kernels: kernels/list.h has what X is given.
#define MYNAH_ROW_KERNELS(X)                  \
  X(rows, gather_rows_1, GatherRowsArgs)      \
  X(rows, gather_rows_2, GatherRowsArgs)      \
  X(rows, gather_rows_4, GatherRowsArgs)      \
  X(rows, gather_rows_16, GatherRowsArgs)     \
  X(rows, scatter_rows_f32, ScatterRowsArgs)  \
  X(rows, scatter_rows_f16, ScatterRowsArgs)  \
  X(rows, scatter_rows_bf16, ScatterRowsArgs) \
  X(rows, scatter_rows_q8_0, ScatterRowsArgs) \
  X(rows, transpose, TransposeArgs)
