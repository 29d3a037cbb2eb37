// Norms and distributions.
#include <algorithm>
#include <cmath>
#include <span>

#include "backend/ref/access.h"
#include "backend/ref/ref_backend.h"

namespace mynah {

using ref::row;

namespace {

struct Moments {
  double mean = 0.0;
  double variance = 0.0;  // of the population
};

// Of n numbers, `stride` apart.
Moments moments(const float* x, int64_t n, int64_t stride) {
  Moments m;
  for (int64_t i = 0; i < n; ++i) {
    m.mean += x[i * stride];
  }
  m.mean /= static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i) {
    m.variance += (x[i * stride] - m.mean) * (x[i * stride] - m.mean);
  }
  m.variance /= static_cast<double>(n);
  return m;
}

float normalised(float x, const Moments& m, float eps, float gamma, float beta) {
  return static_cast<float>((x - m.mean) / std::sqrt(m.variance + eps) * gamma + beta);
}

// Logarithm of the sum of the exponentials of n numbers.
double log_sum_exp(const float* x, int64_t n) {
  const double highest = *std::max_element(x, x + n);
  double sum = 0.0;
  for (int64_t j = 0; j < n; ++j) {
    sum += std::exp(x[j] - highest);
  }
  return highest + std::log(sum);
}

}  // namespace

void RefBackend::layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, float eps,
                            const Tensor& out) {
  for (int64_t i = 0; i < x.dim(0); ++i) {
    const Moments m = moments(row(x, i), x.dim(1), 1);
    for (int64_t j = 0; j < x.dim(1); ++j) {
      row(out, i)[j] = normalised(row(x, i)[j], m, eps, row(gamma, 0)[j], row(beta, 0)[j]);
    }
  }
}

void RefBackend::rms_norm(const Tensor& x, const Tensor& gamma, float eps, const Tensor& out) {
  for (int64_t i = 0; i < x.dim(0); ++i) {
    double square = 0.0;
    for (int64_t j = 0; j < x.dim(1); ++j) {
      square += static_cast<double>(row(x, i)[j]) * row(x, i)[j];
    }
    const double norm = std::sqrt(square / static_cast<double>(x.dim(1)) + eps);
    for (int64_t j = 0; j < x.dim(1); ++j) {
      row(out, i)[j] = static_cast<float>(row(x, i)[j] / norm * row(gamma, 0)[j]);
    }
  }
}

void RefBackend::instance_factors(const Tensor& x, const Lengths& lengths, const Tensor& gamma,
                                  const Tensor& beta, float eps, const Tensor& out) {
  const int64_t d = x.dim(1);
  for (int64_t u = 0; u < lengths.count(); ++u) {
    const Span& span = lengths[u];
    for (int64_t j = 0; j < d; ++j) {
      const bool empty = span.length == 0;
      const Moments m =
          empty ? Moments{} : moments(row(x, span.begin) + j, span.length, x.stride(0));
      const double scale = row(gamma, u)[j] / std::sqrt(m.variance + eps);
      row(out, u)[j] = empty ? 0.0F : static_cast<float>(scale);
      row(out, u)[d + j] = empty ? 0.0F : static_cast<float>(row(beta, u)[j] - m.mean * scale);
    }
  }
}

void RefBackend::softmax(const Tensor& x, const Tensor& out) {
  for (int64_t i = 0; i < x.dim(0); ++i) {
    const double total = log_sum_exp(row(x, i), x.dim(1));
    for (int64_t j = 0; j < x.dim(1); ++j) {
      row(out, i)[j] = static_cast<float>(std::exp(row(x, i)[j] - total));
    }
  }
}

void RefBackend::log_softmax(const Tensor& x, const Tensor& out) {
  for (int64_t i = 0; i < x.dim(0); ++i) {
    const double total = log_sum_exp(row(x, i), x.dim(1));
    for (int64_t j = 0; j < x.dim(1); ++j) {
      row(out, i)[j] = static_cast<float>(row(x, i)[j] - total);
    }
  }
}

}  // namespace mynah
