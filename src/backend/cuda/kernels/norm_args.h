// What the kernels of norms.cu are given.
#pragma once

#include "backend/cuda/kernels/views.h"

namespace mynah::simt {

// A block a row. layer_norm: gamma and beta; rms_norm: gamma alone; softmax and log_softmax:
// neither.
struct NormArgs {
  Rows x;
  const float* gamma;
  const float* beta;
  OutRows out;
  int64_t columns;
  float epsilon;
};

}  // namespace mynah::simt

// The kernels: kernels/list.h has what X is given.
#define MYNAH_NORM_KERNELS(X)    \
  X(norms, layer_norm, NormArgs) \
  X(norms, rms_norm, NormArgs)   \
  X(norms, softmax, NormArgs)    \
  X(norms, log_softmax, NormArgs)
