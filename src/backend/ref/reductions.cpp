// Along the last dimension: reductions, running sums, the median filter.
#include <algorithm>
#include <cmath>
#include <vector>

#include "backend/ref/access.h"
#include "backend/ref/ref_backend.h"

namespace mynah {

using ref::row;

void RefBackend::reduce(Reduction op, const Tensor& x, const Tensor& out) {
  for (int64_t i = 0; i < x.dim(0); ++i) {
    double sum = 0.0;
    double highest = -INFINITY;
    for (int64_t j = 0; j < x.dim(1); ++j) {
      sum += row(x, i)[j];
      highest = std::max<double>(highest, row(x, i)[j]);
    }
    const double mean = sum / static_cast<double>(x.dim(1));
    const double result = op == Reduction::Max ? highest : op == Reduction::Mean ? mean : sum;
    out.data<float>()[i] = static_cast<float>(result);
  }
}

void RefBackend::argmax(const Tensor& x, const Tensor& out) {
  for (int64_t i = 0; i < x.dim(0); ++i) {
    int64_t best = 0;
    for (int64_t j = 1; j < x.dim(1); ++j) {
      if (row(x, i)[j] > row(x, i)[best] || std::isnan(row(x, i)[best])) {
        best = j;
      }
    }
    out.data<int32_t>()[i] = static_cast<int32_t>(std::isnan(row(x, i)[best]) ? 0 : best);
  }
}

void RefBackend::cumsum(const Tensor& x, const Tensor& out) {
  for (int64_t i = 0; i < x.dim(0); ++i) {
    double sum = 0.0;
    for (int64_t j = 0; j < x.dim(1); ++j) {
      sum += row(x, i)[j];
      row(out, i)[j] = static_cast<float>(sum);
    }
  }
}

namespace {

// Index j of n mirrored at both ends without repeating them: -1 is 1, n is n - 2.
int64_t reflected(int64_t j, int64_t n) {
  return j < 0 ? -j : j >= n ? 2 * n - 2 - j : j;
}

}  // namespace

void RefBackend::median_filter(const Tensor& x, int64_t width, const Tensor& out) {
  const int64_t reach = width / 2;
  const int64_t n = x.dim(1);
  std::vector<float> window(static_cast<size_t>(width));
  for (int64_t i = 0; i < x.dim(0); ++i) {
    for (int64_t j = 0; j < n; ++j) {
      if (n <= reach) {  // too short to reflect: the reference leaves it as it is
        row(out, i)[j] = row(x, i)[j];
        continue;
      }
      for (int64_t k = 0; k < width; ++k) {
        window[static_cast<size_t>(k)] = row(x, i)[reflected(j + k - reach, n)];
      }
      std::nth_element(window.begin(), window.begin() + reach, window.end());
      row(out, i)[j] = window[static_cast<size_t>(reach)];
    }
  }
}

}  // namespace mynah
