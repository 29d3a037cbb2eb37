// Copies: between layouts and float types.
#include <array>
#include <limits>
#include <optional>

#include "backend/cuda/cuda_backend_class.h"
#include "base/check.h"

namespace mynah::cuda {

namespace {

using CopyKernel = Kernel<simt::CopyArgs>;

CopyKernel kernel_between(DType from, DType to) {
  struct Cast {
    DType from;
    DType to;
    CopyKernel kernel;
  };

  static constexpr auto kCasts = std::to_array<Cast>({
      {DType::F32, DType::F16, kernels::cast_f32_f16},
      {DType::F32, DType::BF16, kernels::cast_f32_bf16},
      {DType::F16, DType::F32, kernels::cast_f16_f32},
      {DType::F16, DType::BF16, kernels::cast_f16_bf16},
      {DType::BF16, DType::F32, kernels::cast_bf16_f32},
      {DType::BF16, DType::F16, kernels::cast_bf16_f16},
  });
  if (from != to) {
    for (const Cast& cast : kCasts) {
      if (cast.from == from && cast.to == to) {
        return cast.kernel;
      }
    }
    check_failed(__FILE__, __LINE__, "a cast between float types",
                 check_message(name(from), " to ", name(to)));
  }
  switch (block_bytes(from)) {
    case 2:
      return kernels::copy_2;
    case 4:
      return kernels::copy_4;
    case 8:
      return kernels::copy_8;
    default:
      return kernels::copy_1;
  }
}

}  // namespace

void CudaBackend::copy(const Tensor& x, const Tensor& out) {
  constexpr int64_t kThreads = 256;
  simt::CopyArgs args{};
  args.x = x.raw();
  args.out = out.raw();
  args.elements = x.elements();
  CopyKernel kernel = kernel_between(x.dtype(), out.dtype());
  if (is_block_type(x.dtype())) {  // contiguous throughout: bytes
    kernel = kernels::copy_1;
    args.elements = static_cast<int64_t>(storage_bytes(x.dtype(), x.elements()));
  }
  static_assert(kMaxRank <= simt::kCopyRank);
  for (int axis = 0; axis < simt::kCopyRank; ++axis) {
    const int from = axis - (simt::kCopyRank - x.rank());
    const bool there = from >= 0 && !is_block_type(x.dtype());
    args.shape[axis] = there ? x.dim(from) : 1;
    args.x_strides[axis] = there ? x.stride(from) : 0;
    args.out_strides[axis] = there ? out.stride(from) : 0;
  }
  if (is_block_type(x.dtype())) {
    args.shape[simt::kCopyRank - 1] = args.elements;
    args.x_strides[simt::kCopyRank - 1] = 1;
    args.out_strides[simt::kCopyRank - 1] = 1;
  }
  launch(kernel, {.x = blocks_for(args.elements, kThreads)}, kThreads, args);
}

}  // namespace mynah::cuda
