// What follows a product: bias, activation, residual.
#pragma once

#include "backend/cuda/kernels/math.h"
#include "backend/cuda/kernels/product_args.h"

namespace mynah::simt {

inline float activate(Activation activation, float x) {
  switch (activation) {
    case Activation::None:
      return x;
    case Activation::Relu:
      return x < 0.0F ? 0.0F : x;
    case Activation::Gelu:
      return gelu(x);
    case Activation::GeluTanh:
      return gelu_tanh(x);
    case Activation::Silu:
      return x * sigmoid(x);
    case Activation::Sigmoid:
      return sigmoid(x);
    case Activation::Tanh:
      return tanh(x);
  }
  return x;
}

// Writes sums to their places: the same arithmetic whichever kernel computed them.
class Finisher {
 public:
  // `scales` of columns, or null.
  Finisher(const Finish& finish, const float* scales)
      : finish_(finish),
        scales_(scales),
        bias_(finish.bias),
        residual_(finish.residual.data),
        out_(finish.out.data) {}

  // One sum; nothing outside the matrix.
  void put(int64_t row, int64_t column, float sum) const {
    if (row >= finish_.rows || column >= finish_.columns) {
      return;
    }
    float residual = 0.0F;
    if (!residual_.empty()) {
      residual = residual_[row * finish_.residual.stride + column];
    }
    out_[row * finish_.out.stride + column] = finished(column, sum) + residual;
  }

  // The first `count` of four neighbours, whose column is a multiple of four where the result is
  // aligned.
  void put(int64_t row, int64_t column, const Vector<float, 4>& sums, int count) const {
    if (row >= finish_.rows) {
      return;
    }
    const bool whole = finish_.aligned && count == 4;
    const int64_t residual_at = row * finish_.residual.stride + column;
    Vector<float, 4> residual{};
    if (!residual_.empty()) {
      if (whole) {
        residual = residual_.load<4>(residual_at);
      } else {
        for (int i = 0; i < 4; ++i) {
          if (i < count) {
            residual[i] = residual_[residual_at + i];
          }
        }
      }
    }
    Vector<float, 4> values{};
    for (int i = 0; i < 4; ++i) {
      if (i < count) {
        values[i] = finished(column + i, sums[i]) + residual[i];
      }
    }
    const int64_t at = row * finish_.out.stride + column;
    if (whole) {
      out_.store<4>(at, values);
      return;
    }
    for (int i = 0; i < 4; ++i) {
      if (i < count) {
        out_[at + i] = values[i];
      }
    }
  }

 private:
  [[nodiscard]] float finished(int64_t column, float sum) const {
    const float scaled = scales_.empty() ? sum : sum * scales_[column];
    return activate(finish_.activation, bias_.empty() ? scaled : scaled + bias_[column]);
  }

  const Finish& finish_;
  Global<const float> scales_;
  Global<const float> bias_;
  Global<const float> residual_;
  Global<float> out_;
};

}  // namespace mynah::simt
