#include "models/builtin/fourier.h"

#include <bit>
#include <numbers>
#include <utility>

#include "base/check.h"

namespace mynah {

Fourier::Fourier(size_t size) {
  MYNAH_CHECK(std::has_single_bit(size) && size >= 2);
  for (size_t k = 0; k < size / 2; ++k) {
    const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(size);
    twiddles_.push_back(std::polar(1.0, angle));
  }
  reversed_.assign(size, 0);
  for (size_t i = 1; i < size; ++i) {
    reversed_[i] = reversed_[i / 2] / 2 + (i % 2 == 0 ? 0 : size / 2);
  }
}

void Fourier::transform(std::span<std::complex<double>> values) const {
  const size_t size = reversed_.size();
  MYNAH_CHECK(values.size() == size);
  for (size_t i = 0; i < size; ++i) {
    if (i < reversed_[i]) {
      std::swap(values[i], values[reversed_[i]]);
    }
  }
  for (size_t half = 1; half < size; half *= 2) {
    const size_t stride = size / (2 * half);
    for (size_t begin = 0; begin < size; begin += 2 * half) {
      for (size_t k = 0; k < half; ++k) {
        const std::complex<double> a = values[begin + k];
        const std::complex<double> b = values[begin + k + half] * twiddles_[k * stride];
        values[begin + k] = a + b;
        values[begin + k + half] = a - b;
      }
    }
  }
}

}  // namespace mynah
