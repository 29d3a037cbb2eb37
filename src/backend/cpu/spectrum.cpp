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
    cosines.push_back(static_cast<float>(std::cos(step * static_cast<double>(i))));
    sines.push_back(static_cast<float>(std::sin(step * static_cast<double>(i))));
  }
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
  constexpr int64_t kTogether = 4;  // rows of a call of the kernel
  constexpr int64_t kGroups = 8;    // of a task: about 4 us
  const FftTables& tables = fft_tables(n);
  pool_.parallel_for((rows + kTogether - 1) / kTogether, kGroups, [&](int64_t begin, int64_t end) {
    const Scratch<float> scratch(memory_, spectrum_scratch(n));
    for (int64_t row = begin * kTogether; row < std::min(end * kTogether, rows); row += kTogether) {
      kernels_.magnitudes(x.data<float>() + row * x.stride(0), x.stride(0),
                          std::min(kTogether, rows - row), n, window.data<float>(),
                          tables.cosines.data(), tables.sines.data(), scratch.data(),
                          out.data<float>() + row * out.stride(0), out.stride(0));
    }
  });
}

}  // namespace mynah::cpu
