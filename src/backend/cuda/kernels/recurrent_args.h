// What the kernels of recurrent.cu are given: utterances whose states lie in rows of a matrix.
#pragma once

#include "backend/cuda/kernels/product_args.h"
#include "backend/cuda/kernels/views.h"

namespace mynah::simt {

inline constexpr int kConvTaps = 8;       // at most: kMostTaps
inline constexpr int kDeltaColumns = 32;  // of a value: of a block
inline constexpr int kDeltaParts = 4;     // of a key's columns: a warp each

// A thread a channel of an utterance.
struct ShortConvArgs {
  Rows x;
  const float* weights;  // (taps, columns)
  OutRows states;
  OutRows out;
  const RowSpan* spans;
  const int32_t* slots;
  int64_t columns;
  int32_t taps;
  Activation activation;
};

// A block some columns of a head's values, of an utterance. Dynamic shared memory: as many columns
// of the state, (key_columns, kDeltaColumns).
struct DeltaRuleArgs {
  Rows q;
  Rows k;
  Rows v;
  Rows gates;
  Rows betas;
  OutRows states;
  OutRows out;
  const RowSpan* spans;
  const int32_t* slots;
  int32_t key_heads;
  int32_t key_columns;    // of a head
  int32_t value_columns;  // of a head
};

}  // namespace mynah::simt

// The kernels: kernels/list.h has what X is given.
#define MYNAH_RECURRENT_KERNELS(X)        \
  X(recurrent, short_conv, ShortConvArgs) \
  X(recurrent, delta_rule, DeltaRuleArgs)
