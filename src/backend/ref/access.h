// Reading tensors of host memory, for the reference's plain loops.
#pragma once

#include <cstdint>

#include "tensor/op_params.h"
#include "tensor/quantize.h"
#include "tensor/tensor.h"

namespace mynah::ref {

// Row i of a matrix (rows, d); a vector is its own row 0.
template <class T = float>
T* row(const Tensor& x, int64_t i) {
  return x.data<T>() + (x.rank() < 2 ? 0 : i * x.stride(0));
}

// Element j of row i, whatever float type it is stored as.
inline float at(const Tensor& x, int64_t i, int64_t j) {
  switch (x.dtype()) {
    case DType::F16:
      return f16_to_f32(row<uint16_t>(x, i)[j]);
    case DType::BF16:
      return bf16_to_f32(row<uint16_t>(x, i)[j]);
    default:
      return row(x, i)[j];
  }
}

// Writes element j of row i, rounded to the float type it is stored as.
inline void put(const Tensor& x, int64_t i, int64_t j, float value) {
  switch (x.dtype()) {
    case DType::F16:
      row<uint16_t>(x, i)[j] = f32_to_f16(value);
      break;
    case DType::BF16:
      row<uint16_t>(x, i)[j] = f32_to_bf16(value);
      break;
    default:
      row(x, i)[j] = value;
  }
}

// Row i of a packed weight: in_features numbers.
inline const float* weight_row(const LinearWeight& w, int64_t i) {
  return w.data.data<float>() + i * w.in_features;
}

[[nodiscard]] double activate(Activation activation, double x);

// activation(sum + bias[j]) + residual[i][j].
[[nodiscard]] float finish(double sum, const Tensor* bias, const Tensor* residual,
                           Activation activation, int64_t i, int64_t j);

}  // namespace mynah::ref
