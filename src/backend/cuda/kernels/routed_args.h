// What the kernels of experts' products are given.
#pragma once

#include "backend/cuda/kernels/product_args.h"

namespace mynah::simt {

// A row of the result for each block in z: the row of x that it is of, times the matrix of the
// expert that `routes` names for it. `linear` is of the first row and of expert 0.
struct RoutedArgs {
  LinearArgs linear;
  const int32_t* routes;  // (rows of the result)
  int64_t first;          // row of the result that z = 0 is
  int64_t each;           // rows of the result that a row of x has
  int64_t expert_bytes;   // from a matrix to the next
  int32_t experts;
};

}  // namespace mynah::simt

// The kernels: kernels/list.h has what X is given.
#define MYNAH_ROUTED_OF(X, type) X(routed_##type, routed_##type, RoutedArgs)

#define MYNAH_ROUTED_KERNELS(X) \
  MYNAH_ROUTED_OF(X, f32)       \
  MYNAH_ROUTED_OF(X, f16)       \
  MYNAH_ROUTED_OF(X, bf16)      \
  MYNAH_ROUTED_OF(X, i8)        \
  MYNAH_ROUTED_OF(X, q4_0)      \
  MYNAH_ROUTED_OF(X, q4_1)      \
  MYNAH_ROUTED_OF(X, q5_0)      \
  MYNAH_ROUTED_OF(X, q5_1)      \
  MYNAH_ROUTED_OF(X, q8_0)      \
  MYNAH_ROUTED_OF(X, q2_k)      \
  MYNAH_ROUTED_OF(X, q3_k)      \
  MYNAH_ROUTED_OF(X, q4_k)      \
  MYNAH_ROUTED_OF(X, q5_k)      \
  MYNAH_ROUTED_OF(X, q6_k)      \
  MYNAH_ROUTED_OF(X, iq4_nl)    \
  MYNAH_ROUTED_OF(X, iq4_xs)    \
  MYNAH_ROUTED_OF(X, mxfp4)
