#include <cmath>
#include <numbers>

#include "backend/ref/access.h"
#include "backend/ref/ref_backend.h"

namespace mynah {

void RefBackend::magnitude_spectrum(const Tensor& x, const Tensor& window, const Tensor& out) {
  const int64_t n = x.dim(1);
  const double step = 2.0 * std::numbers::pi / static_cast<double>(n);
  for (int64_t r = 0; r < x.dim(0); ++r) {
    for (int64_t k = 0; k <= n / 2; ++k) {
      double real = 0.0;
      double imaginary = 0.0;
      for (int64_t i = 0; i < n; ++i) {
        const double value = static_cast<double>(ref::row(x, r)[i]) * window.data<float>()[i];
        const double angle = step * static_cast<double>(i * k % n);
        real += value * std::cos(angle);
        imaginary -= value * std::sin(angle);
      }
      ref::row(out, r)[k] = static_cast<float>(std::hypot(real, imaginary));
    }
  }
}

}  // namespace mynah
