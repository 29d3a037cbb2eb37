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

// The kernels: kernels/list.h has what X is given.
#define MYNAH_LSTM_KERNELS(X)           \
  X(lstm_floats, lstm_f32, LstmArgs)    \
  X(lstm_floats, lstm_f16, LstmArgs)    \
  X(lstm_floats, lstm_bf16, LstmArgs)   \
  X(lstm_floats, lstm_i8, LstmArgs)     \
  X(lstm_blocks, lstm_q4_0, LstmArgs)   \
  X(lstm_blocks, lstm_q4_1, LstmArgs)   \
  X(lstm_blocks, lstm_q5_0, LstmArgs)   \
  X(lstm_blocks, lstm_q5_1, LstmArgs)   \
  X(lstm_blocks, lstm_q8_0, LstmArgs)   \
  X(lstm_blocks, lstm_q2_k, LstmArgs)   \
  X(lstm_blocks, lstm_q3_k, LstmArgs)   \
  X(lstm_blocks, lstm_q4_k, LstmArgs)   \
  X(lstm_blocks, lstm_q5_k, LstmArgs)   \
  X(lstm_blocks, lstm_q6_k, LstmArgs)   \
  X(lstm_blocks, lstm_iq4_nl, LstmArgs) \
  X(lstm_blocks, lstm_iq4_xs, LstmArgs) \
  X(lstm_blocks, lstm_mxfp4, LstmArgs)
