// What the kernel of sample.cu is given.
#pragma once

#include "backend/cuda/kernels/views.h"

namespace mynah::simt {

// TokenRange, SampleRow and TokenPenalty of tensor/op_params.h, field by field.
struct TokenRange {
  int32_t begin;
  int32_t end;
};

struct SampleRow {
  TokenRange first;
  TokenRange second;
  bool prefer_second;
  int32_t mask;
  int32_t penalties_begin;
  int32_t penalties_count;
  float temperature;
  float uniform;
  int32_t top_k;
  float typical_p;
  float top_p;
  float min_p;
};

struct TokenPenalty {
  int32_t token;
  float factor;
  float offset;
  float bias;
};

// A block a row; each of the two kernels leaves the other's rows alone, those that filters say
// something of or those that they do not. `masks` may be null; `penalties` is read where a row has
// some.
struct SampleArgs {
  Rows logits;
  Rows masks;
  const SampleRow* rows;
  const TokenPenalty* penalties;
  int32_t* ids;
  int64_t ids_stride;
  OutRows log_probabilities;
  int32_t vocabulary;
  int32_t top;
};

}  // namespace mynah::simt

// The kernels: kernels/list.h has what X is given.
#define MYNAH_SAMPLE_KERNELS(X) \
  X(sample, sample, SampleArgs) \
  X(sample, sample_filtered, SampleArgs)
