// Products of rows with the matrices of the experts that they were sent to, a .cu file for each
// type of weights: as for few rows, a row at a time. Each row reads its expert's weights anew,
// which is what a decoder's step must; of a prompt's rows those of one expert meet in the
// second-level cache.
#pragma once

#include "backend/cuda/kernels/few_rows.h"
#include "backend/cuda/kernels/routed_args.h"

namespace mynah::simt {

template <Storage kStorage>
inline void routed_rows(const RoutedArgs& args) {
  const int64_t row = args.first + block_index_z();
  const Global<const int32_t> routes(args.routes);
  const int route = routes[row];
  // What routes there are is not known where they are launched.
  const int64_t expert = route < 0 ? 0 : route < args.experts ? route : args.experts - 1;
  const int64_t bytes = expert * args.expert_bytes;
  LinearArgs own = args.linear;
  own.x.data += row / args.each * own.x.stride;
  own.weights.values += bytes;
  own.weights.high += bytes;
  own.weights.headers += bytes;
  own.weights.factors += bytes;
  if (own.weights.scales != nullptr) {
    own.weights.scales += bytes / static_cast<int64_t>(sizeof(float));
  }
  if (own.finish.bias != nullptr) {
    own.finish.bias += expert * own.finish.columns;
  }
  own.finish.out.data += row * own.finish.out.stride;
  few_rows<kStorage>(own);
}

#define MYNAH_DEFINE_ROUTED(type, storage)                        \
  MYNAH_KERNEL(routed_##type, RoutedArgs, kFewRowsWarps* kWarp) { \
    routed_rows<storage>(args);                                   \
  }

}  // namespace mynah::simt
