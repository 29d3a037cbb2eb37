// What the kernel of pick_token.cu is given.
#pragma once

#include "backend/cuda/kernels/views.h"

namespace mynah::simt {

// TokenRule of tensor/op_params.h, field by field.
struct PickRule {
  int32_t text_begin;
  int32_t text_end;
  int32_t timestamp_begin;
  int32_t timestamp_low;
  int32_t timestamp_high;
  bool text_allowed;
  bool prefer_timestamps;
  int32_t mask;
  float temperature;
  float uniform;
  int32_t penalties_begin;
  int32_t penalties_count;
};

// TokenPenalty of tensor/op_params.h, field by field.
struct PickPenalty {
  int32_t token;
  float penalty;
};

// A block a row. `masks` may be null; `penalties` is read where a rule has some.
struct PickTokenArgs {
  Rows logits;
  Rows masks;
  const PickRule* rules;
  const PickPenalty* penalties;
  int32_t* ids;
  int64_t ids_stride;
  OutRows log_probabilities;
  int32_t vocabulary;
  int32_t top;
};

}  // namespace mynah::simt

// The kernels: kernels/list.h has what X is given.
#define MYNAH_PICK_TOKEN_KERNELS(X) X(pick_token, pick_token, PickTokenArgs)
