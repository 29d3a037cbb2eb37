// Fourier: the discrete Fourier transform of real numbers.
#pragma once

#include <complex>
#include <memory>
#include <span>

struct kiss_fftr_state;

namespace mynah::echo {

// kissfft for one even size, without scaling: inverse() of forward() is `size` times what went in.
class Fourier {
 public:
  explicit Fourier(size_t size);

  [[nodiscard]] size_t size() const { return size_; }

  // Bins from 0 to half of the sample rate.
  [[nodiscard]] size_t bins() const { return size_ / 2 + 1; }

  // `in` are size(), `out` are bins().
  void forward(std::span<const float> in, std::span<std::complex<float>> out) const;
  // `in` are bins(), `out` are size().
  void inverse(std::span<const std::complex<float>> in, std::span<float> out) const;

 private:
  struct Deleter {
    void operator()(kiss_fftr_state* plan) const;
  };

  size_t size_;
  std::unique_ptr<kiss_fftr_state, Deleter> forward_;
  std::unique_ptr<kiss_fftr_state, Deleter> inverse_;
};

}  // namespace mynah::echo
