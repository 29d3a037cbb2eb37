// Norms and distributions over the last dimension.
#include <cstddef>

#include "backend/cuda/cuda_backend_class.h"

namespace mynah::cuda {

namespace {

// A warp for short rows, as there are many; eight for long ones.
int norm_threads(int64_t columns) {
  constexpr int64_t kShort = 128;
  constexpr int64_t kMiddle = 1024;
  return columns <= kShort ? 32 : columns <= kMiddle ? 128 : 256;
}

// What kernels read spans of a batch as.
static_assert(sizeof(Span) == sizeof(simt::RowSpan) &&
              offsetof(Span, length) == offsetof(simt::RowSpan, length));

}  // namespace

void CudaBackend::norm(const Kernel<simt::NormArgs>& kernel, const Tensor& x, const Tensor* gamma,
                       const Tensor* beta, float eps, const Tensor& out) {
  launch(kernel, {.x = x.dim(0)}, norm_threads(x.dim(1)),
         {.x = rows_of(x),
          .gamma = gamma == nullptr ? nullptr : gamma->data<const float>(),
          .beta = beta == nullptr ? nullptr : beta->data<const float>(),
          .out = out_rows_of(out),
          .columns = x.dim(1),
          .epsilon = eps});
}

void CudaBackend::layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, float eps,
                             const Tensor& out) {
  norm(kernels::layer_norm, x, &gamma, &beta, eps, out);
}

void CudaBackend::rms_norm(const Tensor& x, const Tensor& gamma, float eps, const Tensor& out) {
  norm(kernels::rms_norm, x, &gamma, nullptr, eps, out);
}

void CudaBackend::instance_factors(const Tensor& x, const Lengths& lengths, const Tensor& gamma,
                                   const Tensor& beta, float eps, const Tensor& out) {
  constexpr int kThreads = 256;
  constexpr int64_t kLanes = 32;  // of a warp: channels of a block
  int64_t longest = 1;
  for (const Span& span : lengths.spans()) {
    longest = std::max(longest, span.length);
  }
  const int64_t channels = x.dim(1);
  const int64_t pieces = blocks_for(longest, simt::kNormPiece);
  const BufferRef utterances = on_device(lengths.spans());
  const BufferRef moments =
      allocate(static_cast<size_t>(2 * lengths.count() * pieces * channels) * sizeof(float));
  const simt::InstanceNormArgs args{
      .x = rows_of(x),
      .utterances = reinterpret_cast<const simt::RowSpan*>(utterances.get()->data()),
      .moments = reinterpret_cast<float*>(moments.get()->data()),
      .gamma = rows_of(gamma),
      .beta = rows_of(beta),
      .out = out_rows_of(out),
      .channels = channels,
      .pieces = pieces,
      .epsilon = eps};
  const int64_t groups = blocks_for(channels, kLanes);
  launch(kernels::instance_moments, {.x = pieces, .y = lengths.count(), .z = groups}, kThreads,
         args);
  launch(kernels::instance_factors, {.x = lengths.count(), .y = groups}, kThreads, args);
}

void CudaBackend::softmax(const Tensor& x, const Tensor& out) {
  norm(kernels::softmax, x, nullptr, nullptr, 0.0F, out);
}

void CudaBackend::log_softmax(const Tensor& x, const Tensor& out) {
  norm(kernels::log_softmax, x, nullptr, nullptr, 0.0F, out);
}

}  // namespace mynah::cuda
