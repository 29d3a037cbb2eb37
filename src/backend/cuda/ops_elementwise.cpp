// Element by element.
#include <cstdint>
#include <initializer_list>

#include "backend/cuda/cuda_backend_class.h"

namespace mynah::cuda {

namespace {

constexpr int64_t kElementThreads = 256;
constexpr int64_t kEach = 4;  // elements of a thread

static_assert(static_cast<int>(UnaryOp::Softplus) ==
              static_cast<int>(simt::UnaryFunction::Softplus));
static_assert(static_cast<int>(UnaryOp::Log) == static_cast<int>(simt::UnaryFunction::Log));
static_assert(static_cast<int>(BinaryOp::Minimum) ==
              static_cast<int>(simt::BinaryFunction::Minimum));

// Rows without gaps: together one long row.
bool one_run(const Tensor& x) {
  return x.dim(0) == 1 || x.stride(0) == x.dim(1);
}

// Whether every row, or the one long row, begins at a multiple of 16 bytes.
bool aligned(const Tensor& x, bool one) {
  constexpr uintptr_t kBytes = kEach * sizeof(float);
  return reinterpret_cast<uintptr_t>(x.raw()) % kBytes == 0 &&
         (one || x.dim(0) == 1 || x.stride(0) % kEach == 0);
}

// `one`: as one long row.
simt::ElementwiseArgs elementwise(const Tensor& x, const Tensor& out, bool one) {
  return {.x = rows_of(x),
          .out = out_rows_of(out),
          .rows = one ? 1 : x.dim(0),
          .columns = one ? x.elements() : x.dim(1),
          .aligned = aligned(x, one) && aligned(out, one)};
}

// A thread for every four elements of a row.
GridSize grid_of(const simt::ElementwiseArgs& at) {
  return {.x = blocks_for(at.rows * blocks_for(at.columns, kEach), kElementThreads)};
}

}  // namespace

void CudaBackend::unary(UnaryOp op, const Tensor& x, const Tensor& out) {
  const simt::ElementwiseArgs at = elementwise(x, out, one_run(x) && one_run(out));
  launch(kernels::unary, grid_of(at), kElementThreads,
         {.at = at, .function = static_cast<simt::UnaryFunction>(op)});
}

void CudaBackend::binary(BinaryOp op, const Tensor& a, const Tensor& b, const Tensor& out) {
  const bool single = b.elements() == 1;
  const bool spread = b.dim(0) == 1;  // a row of b, for every row of a
  const bool one =
      one_run(a) && one_run(out) && (single || a.dim(0) == 1 || (!spread && one_run(b)));
  simt::ElementwiseArgs at = elementwise(a, out, one);
  at.aligned = at.aligned && (single || aligned(b, one));
  launch(kernels::binary, grid_of(at), kElementThreads,
         {.at = at,
          .other = {.data = b.data<const float>(), .stride = spread ? 0 : b.stride(0)},
          .single = single,
          .function = static_cast<simt::BinaryFunction>(op)});
}

void CudaBackend::affine(const Tensor& x, float a, float b, const Tensor& out) {
  const simt::ElementwiseArgs at = elementwise(x, out, one_run(x) && one_run(out));
  launch(kernels::affine, grid_of(at), kElementThreads, {.at = at, .scale = a, .shift = b});
}

void CudaBackend::gated(const Tensor& x, const GatedParams& params, const Tensor& out) {
  simt::ElementwiseArgs at = elementwise(x, out, out.dim(0) == 1);
  at.columns = out.dim(1);
  at.aligned = at.aligned && out.dim(1) % kEach == 0;
  launch(kernels::gated, grid_of(at), kElementThreads,
         {.at = at,
          .values = out.dim(1),
          .activation = static_cast<simt::Activation>(params.activation),
          .limit = params.limit,
          .scale = params.scale,
          .shift = params.shift});
}

void CudaBackend::leaky_relu(const Tensor& x, float slope, const Tensor& out) {
  const simt::ElementwiseArgs at = elementwise(x, out, one_run(x) && one_run(out));
  launch(kernels::leaky_relu, grid_of(at), kElementThreads, {.at = at, .slope = slope});
}

void CudaBackend::snake(const Tensor& x, const Tensor& alpha, const Tensor& out) {
  simt::ElementwiseArgs at = elementwise(x, out, x.dim(0) == 1);
  at.aligned = at.aligned && aligned(alpha, true);
  launch(kernels::snake, grid_of(at), kElementThreads,
         {.at = at, .alpha = alpha.data<const float>()});
}

Tensor CudaBackend::conv1d_seen(const Tensor& x, const Lengths& lengths, const Conv1dInput& input) {
  const Tensor seen(allocate(static_cast<size_t>(x.elements()) * sizeof(float)), 0, x.shape(),
                    DType::F32, device());
  for (int64_t u = 0; u < lengths.count(); ++u) {
    const Span& span = lengths[u];
    if (span.length == 0) {
      continue;
    }
    simt::ElementwiseArgs at =
        elementwise(x.narrow(0, span.begin, span.length), seen.narrow(0, span.begin, span.length),
                    span.length == 1);
    const float* factors = nullptr;
    if (input.factors != nullptr) {
      const Tensor own = input.factors->narrow(0, u, 1);
      factors = own.data<const float>();
      at.aligned = at.aligned && aligned(own, true) && x.dim(1) % kEach == 0;
    }
    if (input.alpha != nullptr) {
      at.aligned = at.aligned && aligned(*input.alpha, true);
    }
    launch(kernels::conv_input, grid_of(at), kElementThreads,
           {.at = at,
            .factors = factors,
            .alpha = input.alpha == nullptr ? nullptr : input.alpha->data<const float>(),
            .slope = input.slope});
  }
  return seen;
}

}  // namespace mynah::cuda
