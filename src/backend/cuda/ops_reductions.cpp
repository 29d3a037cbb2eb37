// Along the last dimension: reductions, running sums, the median filter.
#include "backend/cuda/cuda_backend_class.h"

namespace mynah::cuda {

namespace {

constexpr int64_t kReductionThreads = 256;

// A warp for short rows, as there are many; eight for long ones.
int reduction_threads(int64_t columns) {
  constexpr int64_t kShort = 128;
  return columns <= kShort ? 32 : static_cast<int>(kReductionThreads);
}

}  // namespace

void CudaBackend::reduce(Reduction op, const Tensor& x, const Tensor& out) {
  const float scale = op == Reduction::Mean ? 1.0F / static_cast<float>(x.dim(1)) : 1.0F;
  launch(op == Reduction::Max ? kernels::reduce_max : kernels::reduce_sum, {.x = x.dim(0)},
         reduction_threads(x.dim(1)),
         {.x = rows_of(x), .out = out.data<float>(), .columns = x.dim(1), .scale = scale});
}

void CudaBackend::argmax(const Tensor& x, const Tensor& out) {
  launch(kernels::argmax, {.x = x.dim(0)}, reduction_threads(x.dim(1)),
         {.x = rows_of(x), .out = out.data<int32_t>(), .columns = x.dim(1)});
}

void CudaBackend::cumsum(const Tensor& x, const Tensor& out) {
  launch(kernels::cumsum, {.x = x.dim(0)}, reduction_threads(x.dim(1)),
         {.x = rows_of(x), .out = out_rows_of(out), .columns = x.dim(1)});
}

void CudaBackend::median_filter(const Tensor& x, int64_t width, const Tensor& out) {
  launch(kernels::median_filter, {.x = blocks_for(x.elements(), kReductionThreads)},
         kReductionThreads,
         {.x = rows_of(x),
          .out = out_rows_of(out),
          .rows = x.dim(0),
          .columns = x.dim(1),
          .width = width});
}

}  // namespace mynah::cuda
