// MaskRows: which tokens may come, as rows of ops::sample()'s masks on a device.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/ops.h"
#include "tensor/backend.h"

namespace mynah {

// A text inside of a string may go on by the same tokens for many steps: rows stay where they are
// and are found again by their bits.
class MaskRows {
 public:
  // `backend` must outlive it.
  MaskRows(Backend& backend, int64_t vocabulary) : backend_(backend), vocabulary_(vocabulary) {}

  // A step begins that wants so many rows at most.
  void begin(size_t most);

  // The row of these bits (TokenWish::allowed; empty: all tokens may come), as it stays until the
  // next step.
  int32_t row_of(const std::vector<uint32_t>& allowed);

  // (rows, vocabulary). Once begin() was called.
  [[nodiscard]] const Tensor& rows() const { return rows_; }

 private:
  struct Row {
    std::vector<uint32_t> allowed;
    uint64_t used = 0;  // the last step; 0: the row has nothing
  };

  Backend& backend_;
  int64_t vocabulary_;
  Tensor rows_;
  std::vector<Row> known_;  // of each
  uint64_t step_ = 0;
  std::vector<float> written_;  // a row on its way
};

}  // namespace mynah
