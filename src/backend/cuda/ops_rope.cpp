// Rotary positions.
#include <cmath>
#include <numbers>
#include <vector>

#include "backend/cuda/cuda_backend_class.h"

namespace mynah::cuda {

// theta^(-j / half) / (2 pi) of a turn, in units of 2^-64: a position's product with it, modulo
// 2^64, is the angle, however far the position.
BufferRef CudaBackend::rope_turns(float theta, int64_t half) {
  const std::unique_lock lock(tables_mutex_);
  BufferRef& buffer = rope_turns_[{theta, half}];
  if (buffer.get() == nullptr) {
    std::vector<uint64_t> turns;
    for (int64_t j = 0; j < half; ++j) {
      const double exponent = -static_cast<double>(j) / static_cast<double>(half);
      const double turn = std::pow(static_cast<double>(theta), exponent) / (2.0 * std::numbers::pi);
      turns.push_back(static_cast<uint64_t>(std::ldexp(turn - std::floor(turn), 64)));
    }
    buffer = kept_on_device(std::as_bytes(std::span(turns)));
  }
  return buffer;
}

void CudaBackend::rope(const Tensor& x, const Tensor& positions, int64_t heads, float theta,
                       const Tensor& out) {
  constexpr int64_t kThreads = 256;
  const int64_t half = x.dim(1) / heads / 2;
  const BufferRef turns = rope_turns(theta, half);
  launch(kernels::rope, {.x = blocks_for(x.dim(0) * heads * half, kThreads)}, kThreads,
         {.x = rows_of(x),
          .out = out_rows_of(out),
          .positions = positions.data<const int32_t>(),
          .turns = reinterpret_cast<const uint64_t*>(turns.get()->data()),
          .rows = x.dim(0),
          .heads = static_cast<int32_t>(heads),
          .half = static_cast<int32_t>(half)});
}

}  // namespace mynah::cuda
