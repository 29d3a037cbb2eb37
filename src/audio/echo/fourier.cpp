#include "audio/echo/fourier.h"

#include <kiss_fftr.h>

#include "base/check.h"

namespace mynah::echo {

namespace {

// kissfft's numbers are pairs of floats, as std::complex<float> is held to be ([complex.numbers]).
static_assert(sizeof(kiss_fft_cpx) == sizeof(std::complex<float>));

kiss_fft_cpx* pairs(std::complex<float>* numbers) {
  return reinterpret_cast<kiss_fft_cpx*>(numbers);
}

const kiss_fft_cpx* pairs(const std::complex<float>* numbers) {
  return reinterpret_cast<const kiss_fft_cpx*>(numbers);
}

}  // namespace

void Fourier::Deleter::operator()(kiss_fftr_state* plan) const {
  kiss_fftr_free(plan);
}

Fourier::Fourier(size_t size)
    : size_(size),
      forward_(kiss_fftr_alloc(static_cast<int>(size), 0, nullptr, nullptr)),
      inverse_(kiss_fftr_alloc(static_cast<int>(size), 1, nullptr, nullptr)) {
  MYNAH_CHECK(size % 2 == 0 && forward_ != nullptr && inverse_ != nullptr);
}

void Fourier::forward(std::span<const float> in, std::span<std::complex<float>> out) const {
  MYNAH_CHECK(in.size() == size_ && out.size() == bins());
  kiss_fftr(forward_.get(), in.data(), pairs(out.data()));
}

void Fourier::inverse(std::span<const std::complex<float>> in, std::span<float> out) const {
  MYNAH_CHECK(in.size() == bins() && out.size() == size_);
  kiss_fftri(inverse_.get(), pairs(in.data()), out.data());
}

}  // namespace mynah::echo
