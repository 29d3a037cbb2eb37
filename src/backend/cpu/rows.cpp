// Operations that go row by row: norms, moving rows, reductions. Those that go element by element
// stand behind their kernels (rows_hwy.cpp).
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "backend/cpu/cpu_backend_class.h"
#include "tensor/quantize.h"

namespace mynah::cpu {
void CpuBackend::layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, float eps,
                            const Tensor& out) {
  for_rows(x.dim(0), x.dim(1) * kCheapElement, [&](int64_t r) {
    kernels_.layer_norm(row_of(x, r), gamma.data<float>(), beta.data<float>(), eps, x.dim(1),
                        writable_row(out, r));
  });
}

void CpuBackend::rms_norm(const Tensor& x, const Tensor& gamma, float eps, const Tensor& out) {
  for_rows(x.dim(0), x.dim(1) * kCheapElement, [&](int64_t r) {
    kernels_.rms_norm(row_of(x, r), gamma.data<float>(), eps, x.dim(1), writable_row(out, r));
  });
}

void CpuBackend::softmax(const Tensor& x, const Tensor& out) {
  const int64_t n = x.dim(1);
  for_rows(x.dim(0), n * kCostlyElement, [&](int64_t r) {
    float* to = writable_row(out, r);
    const float sum = kernels_.exp_sum(row_of(x, r), n, kernels_.max(row_of(x, r), n), to);
    kernels_.affine(to, n, 1.0F / sum, 0.0F, to);
  });
}

void CpuBackend::log_softmax(const Tensor& x, const Tensor& out) {
  const int64_t n = x.dim(1);
  for_rows(x.dim(0), n * kCostlyElement, [&](int64_t r) {
    const float largest = kernels_.max(row_of(x, r), n);
    const float sum = kernels_.masked_exp_sum(row_of(x, r), nullptr, n, largest, 1.0F);
    kernels_.affine(row_of(x, r), n, 1.0F, -largest - std::log(sum), writable_row(out, r));
  });
}

void CpuBackend::dequantize(const Tensor& x, const Tensor& out) {
  const int64_t n = x.dim(1);
  for_rows(x.dim(0), n * kCheapElement, [&](int64_t r) {
    mynah::dequantize(x.dtype(), x.raw() + storage_bytes(x.dtype(), r * x.stride(0)),
                      {writable_row(out, r), static_cast<size_t>(n)});
  });
}

void CpuBackend::gather_rows(const Tensor& x, const Tensor& rows, const Tensor& out) {
  const size_t bytes = storage_bytes(x.dtype(), x.dim(1));
  for (int64_t i = 0; i < rows.dim(0); ++i) {
    const int64_t from = rows.data<int32_t>()[i];
    std::memcpy(out.raw() + storage_bytes(out.dtype(), i * out.stride(0)),
                x.raw() + storage_bytes(x.dtype(), from * x.stride(0)), bytes);
  }
}

void CpuBackend::scatter_rows(const Tensor& x, const Tensor& rows, const Tensor& out) {
  const int64_t n = x.dim(1);
  for (int64_t i = 0; i < rows.dim(0); ++i) {
    const int64_t to = rows.data<int32_t>()[i] * out.stride(0);
    switch (out.dtype()) {
      case DType::F16:
        kernels_.to_f16(row_of(x, i), n, out.data<uint16_t>() + to);
        break;
      case DType::BF16:
        kernels_.to_bf16(row_of(x, i), n, out.data<uint16_t>() + to);
        break;
      case DType::Q8_0:
        quantize(DType::Q8_0, {row_of(x, i), static_cast<size_t>(n)},
                 out.raw() + storage_bytes(DType::Q8_0, to));
        break;
      default:
        std::memcpy(out.data<float>() + to, row_of(x, i), static_cast<size_t>(n) * sizeof(float));
        break;
    }
  }
}

void CpuBackend::transpose(const Tensor& x, const Tensor& out) {
  // Square blocks, so that both sides stay within a few cache lines.
  constexpr int64_t kBlock = 16;
  const int64_t blocks = (x.dim(0) + kBlock - 1) / kBlock;
  for_rows(blocks, x.dim(1) * kBlock * kCheapElement, [&](int64_t block) {
    const int64_t row_end = std::min(x.dim(0), (block + 1) * kBlock);
    for (int64_t c0 = 0; c0 < x.dim(1); c0 += kBlock) {
      for (int64_t c = c0; c < std::min(x.dim(1), c0 + kBlock); ++c) {
        for (int64_t r = block * kBlock; r < row_end; ++r) {
          writable_row(out, c)[r] = row_of(x, r)[c];
        }
      }
    }
  });
}

void CpuBackend::reduce(Reduction op, const Tensor& x, const Tensor& out) {
  const int64_t n = x.dim(1);
  for_rows(x.dim(0), n * kCheapElement, [&](int64_t r) {
    float value =
        op == Reduction::Max ? kernels_.max(row_of(x, r), n) : kernels_.sum(row_of(x, r), n);
    if (op == Reduction::Mean) {
      value /= static_cast<float>(n);
    }
    out.data<float>()[r * out.stride(0)] = value;
  });
}

void CpuBackend::argmax(const Tensor& x, const Tensor& out) {
  for_rows(x.dim(0), x.dim(1) * kCheapElement, [&](int64_t r) {
    int64_t index = 0;
    kernels_.masked_max(row_of(x, r), nullptr, x.dim(1), &index);
    out.data<int32_t>()[r * out.stride(0)] = static_cast<int32_t>(index);
  });
}

void CpuBackend::cumsum(const Tensor& x, const Tensor& out) {
  for_rows(x.dim(0), x.dim(1) * kCheapElement, [&](int64_t r) {
    double sum = 0;
    for (int64_t c = 0; c < x.dim(1); ++c) {
      sum += static_cast<double>(row_of(x, r)[c]);
      writable_row(out, r)[c] = static_cast<float>(sum);
    }
  });
}

void CpuBackend::median_filter(const Tensor& x, int64_t width, const Tensor& out) {
  const int64_t n = x.dim(1);
  const int64_t half = width / 2;
  for_rows(x.dim(0), n * width * kCheapElement, [&](int64_t r) {
    const float* row = row_of(x, r);
    if (n <= half) {  // too short to reflect: as the reference, left as it is
      std::memcpy(writable_row(out, r), row, static_cast<size_t>(n) * sizeof(float));
      return;
    }
    std::vector<float> window(static_cast<size_t>(width));
    for (int64_t c = 0; c < n; ++c) {
      for (int64_t j = 0; j < width; ++j) {
        int64_t at = std::abs(c - half + j);
        at = at >= n ? 2 * (n - 1) - at : at;
        window[static_cast<size_t>(j)] = row[at];
      }
      const auto middle = window.begin() + half;
      std::nth_element(window.begin(), middle, window.end());
      writable_row(out, r)[c] = *middle;
    }
  });
}

}  // namespace mynah::cpu
