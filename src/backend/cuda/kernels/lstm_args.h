// What the kernels of lstm_*.cu are given.
#pragma once

#include "backend/cuda/kernels/views.h"
#include "backend/cuda/kernels/weight_layout.h"

namespace mynah::simt {

inline constexpr int kLstmThreads = 512;  // at most
// Units that a warp takes of one gate at a time: a panel of the weights' layout.
inline constexpr int kLstmUnits = 8;

// Shared memory of the hidden state, in floats: sixteen that belong together, then four that keep
// the next ones off their banks.
[[nodiscard]] constexpr int lstm_state_floats(int64_t chunks) {
  return static_cast<int>(chunks) * 2 * (kChunk / 2 + 4);
}

// A block takes `units` units of an utterance, through `steps` steps from `first_step` on. Where it
// does not take all units, a launch is one step, and the state passes from one to the next through
// `out` and `c`.
struct LstmArgs {
  Weights weights;       // of the state: (4 hidden, hidden)
  const float* inputs;   // (rows, 4 hidden): the products with x, and the bias
  const RowSpan* spans;  // of each utterance
  const float* first_h;  // before the first step
  int64_t first_h_stride;
  OutRows h;  // after the last
  OutRows c;
  OutRows out;
  int32_t hidden;
  int32_t units;
  int32_t first_step;
  int32_t steps;
  int32_t reverse;  // 1: from each utterance's end
};

}  // namespace mynah::simt
