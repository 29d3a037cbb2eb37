// Matrices as kernels are given them: addresses of the card's memory, strides in elements.
#pragma once

#include <stdint.h>  // NOLINT(modernize-deprecated-headers): device code has no <cstdint>

namespace mynah::simt {

// A matrix (rows, columns) of f32 whose rows may lie apart.
struct Rows {
  const float* data;
  int64_t stride;
};

struct OutRows {
  float* data;
  int64_t stride;
};

// A run of rows: an utterance of a batch.
struct RowSpan {
  int64_t begin;
  int64_t length;
};

}  // namespace mynah::simt
