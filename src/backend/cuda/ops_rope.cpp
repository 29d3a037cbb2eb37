// Rotary positions.
#include "backend/cuda/cuda_backend_class.h"

namespace mynah::cuda {

void CudaBackend::rope(const Tensor& x, const Tensor& turns, int64_t heads, RopePairs pairs,
                       const Tensor& out) {
  constexpr int64_t kThreads = 256;
  const int64_t columns = x.dim(1) / heads;
  launch(kernels::rope, {.x = blocks_for(x.dim(0) * heads * blocks_for(columns, 2), kThreads)},
         kThreads,
         {.x = rows_of(x),
          .out = out_rows_of(out),
          .turns = rows_of(turns),
          .rows = x.dim(0),
          .heads = static_cast<int32_t>(heads),
          .columns = static_cast<int32_t>(columns),
          .pairs = static_cast<int32_t>(turns.dim(1) / 2),
          .neighbours = pairs == RopePairs::Neighbours ? 1 : 0});
}

}  // namespace mynah::cuda
