// Copies: between layouts and float types.
#include <array>
#include <cstdint>
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

// One more axis, faster than those before it. Those of one element say nothing, and one that goes
// on where the axis before it ends, on both sides, makes that one longer.
void add_axis(simt::CopyArgs& args, int64_t size, int64_t x_stride, int64_t out_stride) {
  if (size == 1) {
    return;
  }
  const int last = args.rank - 1;
  const bool goes_on = last >= 0 && args.x_strides[last] == size * x_stride &&
                       args.out_strides[last] == size * out_stride;
  const int axis = goes_on ? last : args.rank++;
  args.shape[axis] = goes_on ? args.shape[axis] * size : size;
  args.x_strides[axis] = x_stride;
  args.out_strides[axis] = out_stride;
}

// The same copy in runs of 16 bytes, where both sides have them: four or more elements an access.
bool widen(simt::CopyArgs& args, int64_t element_bytes) {
  constexpr int64_t kRunBytes = 16;
  const int64_t run = kRunBytes / element_bytes;
  const int last = args.rank - 1;
  const auto aligned = [](const void* at) {
    return reinterpret_cast<uintptr_t>(at) % kRunBytes == 0;
  };
  if (last < 0 || !aligned(args.x) || !aligned(args.out) || args.x_strides[last] != 1 ||
      args.out_strides[last] != 1 || args.shape[last] % run != 0) {
    return false;
  }
  for (int axis = 0; axis < last; ++axis) {
    if (args.x_strides[axis] % run != 0 || args.out_strides[axis] % run != 0) {
      return false;
    }
  }
  for (int axis = 0; axis < last; ++axis) {
    args.x_strides[axis] /= run;
    args.out_strides[axis] /= run;
  }
  args.shape[last] /= run;
  args.elements /= run;
  return true;
}

}  // namespace

void CudaBackend::copy(const Tensor& x, const Tensor& out) {
  constexpr int64_t kThreads = 256;
  static_assert(kMaxRank <= simt::kCopyRank);
  const bool blocks = is_block_type(x.dtype());  // contiguous throughout: bytes
  simt::CopyArgs args{};
  args.x = x.raw();
  args.out = out.raw();
  args.elements =
      blocks ? static_cast<int64_t>(storage_bytes(x.dtype(), x.elements())) : x.elements();
  if (blocks) {
    add_axis(args, args.elements, 1, 1);
  }
  for (int axis = 0; axis < x.rank() && !blocks; ++axis) {
    add_axis(args, x.dim(axis), x.stride(axis), out.stride(axis));
  }
  CopyKernel kernel = blocks ? kernels::copy_1 : kernel_between(x.dtype(), out.dtype());
  const auto element_bytes = blocks ? 1 : static_cast<int64_t>(block_bytes(x.dtype()));
  if (x.dtype() == out.dtype() && widen(args, element_bytes)) {
    kernel = kernels::copy_16;
  }
  launch(kernel, {.x = blocks_for(args.elements, kThreads)}, kThreads, args);
}

}  // namespace mynah::cuda
