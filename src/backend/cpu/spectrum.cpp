// Magnitudes of fast Fourier transforms.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "backend/cpu/cpu_backend_class.h"
#include "backend/cpu/speech.h"

namespace mynah::cpu {

FftTables::FftTables(int64_t n) {
  const double step = 2.0 * std::numbers::pi / static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i) {
    const double angle = step * static_cast<double>(i);
    cosines.push_back(static_cast<float>(std::cos(angle)));
    sines.push_back(static_cast<float>(std::sin(angle)));
    hann.push_back(static_cast<float>(0.5 - 0.5 * std::cos(angle)));
  }
}

Transform FftTables::with(const float* window) const {
  return {.n = static_cast<int64_t>(cosines.size()),
          .window = window,
          .cosines = cosines.data(),
          .sines = sines.data()};
}

const FftTables& CpuBackend::fft_tables(int64_t n) {
  const std::lock_guard lock(tables_mutex_);
  auto& tables = fft_tables_[n];
  if (tables == nullptr) {
    tables = std::make_unique<FftTables>(n);
  }
  return *tables;
}

void CpuBackend::magnitude_spectrum(const Tensor& x, const Tensor& window, const Tensor& out) {
  const int64_t n = x.dim(1);
  const int64_t rows = x.dim(0);
  constexpr int64_t kGroups = 8;  // of a task: about 4 us
  const Transform transform = fft_tables(n).with(window.data<float>());
  const int64_t groups = (rows + kTransformRows - 1) / kTransformRows;
  pool_.parallel_for(groups, kGroups, [&](int64_t begin, int64_t end) {
    const Scratch<float> scratch(memory_, spectrum_scratch(n));
    for (int64_t group = begin; group < end; ++group) {
      const int64_t row = group * kTransformRows;
      kernels_.magnitudes(x.data<float>() + row * x.stride(0), x.stride(0),
                          std::min(kTransformRows, rows - row), transform, scratch.data(),
                          out.data<float>() + row * out.stride(0), out.stride(0));
    }
  });
}

}  // namespace mynah::cpu
