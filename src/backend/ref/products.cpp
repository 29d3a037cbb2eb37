// Products: linear, matmul, conv1d.
#include <cmath>

#include "backend/ref/access.h"
#include "backend/ref/ref_backend.h"
#include "base/check.h"

namespace mynah {

using ref::finish;
using ref::row;
using ref::weight_row;

float ref::finish(double sum, const Tensor* bias, const Tensor* residual, Activation activation,
                  int64_t i, int64_t j) {
  const double y = activate(activation, sum + (bias != nullptr ? row(*bias, 0)[j] : 0.0F));
  return static_cast<float>(y + (residual != nullptr ? row(*residual, i)[j] : 0.0F));
}

void RefBackend::linear(const Tensor& x, const LinearWeight& w, const LinearParams& params,
                        const Tensor& out) {
  for (int64_t i = 0; i < x.dim(0); ++i) {
    for (int64_t j = 0; j < w.out_features; ++j) {
      const float* a = row(x, i);
      const float* b = weight_row(w, j);
      double sum = 0.0;
      for (int64_t k = 0; k < w.in_features; ++k) {
        sum += static_cast<double>(a[k]) * b[k];
      }
      row(out, i)[j] = finish(sum, params.bias, params.residual, params.activation, i, j);
    }
  }
}

void RefBackend::routed_linear(const Tensor& x, const Tensor& routes, const ExpertWeights& w,
                               const RoutedParams& params, const Tensor& out) {
  const int64_t each = out.dim(0) / x.dim(0);
  for (int64_t i = 0; i < out.dim(0); ++i) {
    const int32_t expert = routes.data<int32_t>()[i];
    MYNAH_CHECK(expert >= 0 && expert < w.experts, "[routed_linear] expert ",
                std::to_string(expert), " of ", std::to_string(w.experts));
    const LinearWeight own = w.of(expert);
    for (int64_t j = 0; j < w.out_features; ++j) {
      double sum = params.bias == nullptr ? 0.0 : row(*params.bias, expert)[j];
      for (int64_t k = 0; k < w.in_features; ++k) {
        sum += static_cast<double>(row(x, i / each)[k]) * weight_row(own, j)[k];
      }
      row(out, i)[j] = static_cast<float>(sum);
    }
  }
}

void RefBackend::matmul(const Tensor& a, const Tensor& b, bool transpose_b, const Tensor& out) {
  const int64_t step = transpose_b ? 1 : b.stride(1);
  for (int64_t u = 0; u < out.dim(0); ++u) {
    for (int64_t i = 0; i < out.dim(1); ++i) {
      for (int64_t j = 0; j < out.dim(2); ++j) {
        const float* left = a.data<float>() + u * a.stride(0) + i * a.stride(1);
        const float* right =
            b.data<float>() + u * b.stride(0) + j * (transpose_b ? b.stride(1) : 1);
        double sum = 0.0;
        for (int64_t k = 0; k < a.dim(2); ++k) {
          sum += static_cast<double>(left[k]) * right[k * step];
        }
        out.data<float>()[u * out.stride(0) + i * out.stride(1) + j] = static_cast<float>(sum);
      }
    }
  }
}

namespace {

// What stands in x's place, for channel c of utterance u.
double seen(const Conv1dInput* how, double x, int64_t u, int64_t c) {
  if (how == nullptr) {
    return x;
  }
  if (how->factors != nullptr) {
    const int64_t channels = how->factors->dim(1) / 2;
    x = row(*how->factors, u)[c] * x + row(*how->factors, u)[channels + c];
  }
  if (how->alpha != nullptr) {
    const double alpha = row(*how->alpha, 0)[c];
    return x + std::sin(alpha * x) * std::sin(alpha * x) / alpha;
  }
  return x < 0.0 ? how->slope * x : x;
}

// Sum over one group's channels and the kernel, for output channel j at frame t of utterance u.
double convolve(const Tensor& x, const Span& span, int64_t u, const LinearWeight& w,
                const Conv1dParams& params, int64_t t, int64_t j) {
  const int64_t channels = w.in_features / params.kernel;
  const int64_t group = j / (w.out_features / params.groups);
  double sum = 0.0;
  for (int64_t k = 0; k < params.kernel; ++k) {
    const int64_t from = t * params.stride - params.padding_left + k * params.dilation;
    if (from < 0 || from >= span.length) {
      continue;
    }
    const float* in = row(x, span.begin + from) + group * channels;
    for (int64_t c = 0; c < channels; ++c) {
      sum += seen(params.input, in[c], u, group * channels + c) *
             weight_row(w, j)[c * params.kernel + k];
    }
  }
  return sum;
}

}  // namespace

void RefBackend::conv1d(const Tensor& x, const Lengths& lengths, const LinearWeight& w,
                        const Conv1dParams& params, const Tensor& out) {
  int64_t i = 0;
  for (int64_t u = 0; u < lengths.count(); ++u) {
    for (int64_t t = 0; t < params.out_rows(lengths[u].length); ++t, ++i) {
      for (int64_t j = 0; j < w.out_features; ++j) {
        row(out, i)[j] = finish(convolve(x, lengths[u], u, w, params, t, j), params.bias,
                                params.residual, params.activation, i, j);
      }
    }
  }
}

}  // namespace mynah
