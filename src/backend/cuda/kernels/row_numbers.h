// Numbers of rows that kernels read from the card's memory.
#pragma once

#include "backend/cuda/kernels/row_faults.h"
#include "backend/cuda/simt/simt.h"

namespace mynah::simt {

// Whether `row` is one of `rows`. The first one that is not stays in `fault`, which the host looks
// at when it waits for the card anyway; the caller must neither read nor write such a row.
inline bool row_is_there(int32_t row, int64_t rows, RowFault operation, uint64_t* fault) {
  if (row >= 0 && row < rows) {
    return true;
  }
  Global<uint64_t>(fault).set_if_zero(
      0, (static_cast<uint64_t>(operation) << 32) | static_cast<uint32_t>(row));
  return false;
}

}  // namespace mynah::simt
