// Magnitudes and powers of real Fourier transforms, four rows side by side: a vector holds the same
// sample of each, so that the transform is plain arithmetic without a shuffle.
#include "backend/cpu/kernel_parts.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/spectrum_hwy.cpp"
#include <utility>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();

namespace mynah::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Wide = hn::ScalableTag<float>;
using Four = hn::Full128<float>;
using V = hn::Vec<Four>;

constexpr int64_t kRows = 4;

// A complex number of each of the four rows: memory holds the real parts, then the imaginary ones.
struct Complex {
  V re;
  V im;
};

HWY_INLINE Complex load(const float* p) {
  return {hn::LoadU(Four(), p), hn::LoadU(Four(), p + kRows)};
}

HWY_INLINE void store(const Complex& z, float* p) {
  hn::StoreU(z.re, Four(), p);
  hn::StoreU(z.im, Four(), p + kRows);
}

HWY_INLINE Complex operator+(const Complex& a, const Complex& b) {
  return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)};
}

HWY_INLINE Complex operator-(const Complex& a, const Complex& b) {
  return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)};
}

// z * (cosine - i sine).
HWY_INLINE Complex turn_back(const Complex& z, V cosine, V sine) {
  return {hn::MulAdd(z.re, cosine, hn::Mul(z.im, sine)),
          hn::NegMulAdd(z.re, sine, hn::Mul(z.im, cosine))};
}

// Rows, windowed, as [sample][row]: also [pair of samples][real, imaginary][row].
void interleave(const float* x, int64_t x_stride, int64_t m, int64_t n, const float* window,
                float* out) {
  const Wide f;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  const float* rows[kRows];
  for (int64_t r = 0; r < kRows; ++r) {
    rows[r] = x + (r < m ? r : 0) * x_stride;
  }
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto w = hn::LoadU(f, window + i);
    hn::StoreInterleaved4(hn::Mul(w, hn::LoadU(f, rows[0] + i)),
                          hn::Mul(w, hn::LoadU(f, rows[1] + i)),
                          hn::Mul(w, hn::LoadU(f, rows[2] + i)),
                          hn::Mul(w, hn::LoadU(f, rows[3] + i)), f, out + i * kRows);
  }
  for (; i < n; ++i) {
    for (int64_t r = 0; r < kRows; ++r) {
      out[i * kRows + r] = window[i] * rows[r][i];
    }
  }
}

// The first m of the rows in [bin][row].
void deinterleave(const float* x, int64_t bins, int64_t m, float* out, int64_t out_stride) {
  const Wide f;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  int64_t i = 0;
  for (; i + lanes <= bins; i += lanes) {
    hn::Vec<Wide> rows[kRows];
    hn::LoadInterleaved4(f, x + i * kRows, rows[0], rows[1], rows[2], rows[3]);
    for (int64_t r = 0; r < m; ++r) {
      hn::StoreU(rows[r], f, out + r * out_stride + i);
    }
  }
  for (; i < bins; ++i) {
    for (int64_t r = 0; r < m; ++r) {
      out[r * out_stride + i] = x[i * kRows + r];
    }
  }
}

// The four-point transform of a, b, c, d.
HWY_INLINE void butterfly(const Complex& a, const Complex& b, const Complex& c, const Complex& d,
                          Complex out[4]) {
  const Complex even = a + c;
  const Complex odd = b + d;
  const Complex even_difference = a - c;
  const Complex odd_difference = b - d;
  out[0] = even + odd;
  out[1] = {hn::Add(even_difference.re, odd_difference.im),
            hn::Sub(even_difference.im, odd_difference.re)};
  out[2] = even - odd;
  out[3] = {hn::Sub(even_difference.re, odd_difference.im),
            hn::Add(even_difference.im, odd_difference.re)};
}

// A pass of Stockham's algorithm by fours: `stride` interleaved transforms of `length` numbers
// become 4 * stride of length / 4. The tables have `turn` steps in a full turn.
void pass_of_four(const float* x, int64_t length, int64_t stride, const float* cosines,
                  const float* sines, int64_t turn, float* out) {
  const Four f;
  constexpr int64_t kNumber = 2 * kRows;
  const int64_t quarter = length / 4;
  const int64_t apart = stride * quarter * kNumber;
  Complex y[4];
  for (int64_t p = 0; p < quarter; ++p) {
    const int64_t angle = turn / length * p;
    const float* from = x + stride * p * kNumber;
    float* to = out + 4 * stride * p * kNumber;
    for (int64_t q = 0; q < stride; ++q, from += kNumber, to += kNumber) {
      butterfly(load(from), load(from + apart), load(from + 2 * apart), load(from + 3 * apart), y);
      store(y[0], to);
      if (p == 0) {
        store(y[1], to + stride * kNumber);
        store(y[2], to + 2 * stride * kNumber);
        store(y[3], to + 3 * stride * kNumber);
        continue;
      }
      for (int64_t i = 1; i < 4; ++i) {
        store(turn_back(y[i], hn::Set(f, cosines[i * angle]), hn::Set(f, sines[i * angle])),
              to + i * stride * kNumber);
      }
    }
  }
}

// z * -i.
HWY_INLINE Complex quarter_back(const Complex& z) {
  return {z.im, hn::Neg(z.re)};
}

// The five-point transform of x[0] ... x[4]: what the conjugate roots of one share is summed once.
HWY_INLINE void butterfly_of_five(const Complex x[5], Complex out[5]) {
  const Four f;
  const V cosine1 = hn::Set(f, 0.30901699437F);   // of 72 degrees
  const V cosine2 = hn::Set(f, -0.80901699437F);  // of 144
  const V sine1 = hn::Set(f, 0.95105651630F);
  const V sine2 = hn::Set(f, 0.58778525229F);
  const auto weighed = [](const Complex& a, V u, const Complex& b, V v) HWY_ATTR {
    return Complex{hn::MulAdd(a.re, u, hn::Mul(b.re, v)), hn::MulAdd(a.im, u, hn::Mul(b.im, v))};
  };
  const Complex sum1 = x[1] + x[4];
  const Complex sum2 = x[2] + x[3];
  const Complex difference1 = x[1] - x[4];
  const Complex difference2 = x[2] - x[3];
  const Complex even1 = x[0] + weighed(sum1, cosine1, sum2, cosine2);
  const Complex even2 = x[0] + weighed(sum1, cosine2, sum2, cosine1);
  const Complex odd1 = quarter_back(weighed(difference1, sine1, difference2, sine2));
  const Complex odd2 = quarter_back(weighed(difference1, sine2, difference2, hn::Neg(sine1)));
  out[0] = x[0] + sum1 + sum2;
  out[1] = even1 + odd1;
  out[2] = even2 + odd2;
  out[3] = even2 - odd2;
  out[4] = even1 - odd1;
}

// As pass_of_four, by fives.
void pass_of_five(const float* x, int64_t length, int64_t stride, const float* cosines,
                  const float* sines, int64_t turn, float* out) {
  const Four f;
  constexpr int64_t kNumber = 2 * kRows;
  const int64_t fifth = length / 5;
  const int64_t apart = stride * fifth * kNumber;
  Complex in[5];
  Complex y[5];
  for (int64_t p = 0; p < fifth; ++p) {
    const int64_t angle = turn / length * p;
    const float* from = x + stride * p * kNumber;
    float* to = out + 5 * stride * p * kNumber;
    for (int64_t q = 0; q < stride; ++q, from += kNumber, to += kNumber) {
      for (int64_t i = 0; i < 5; ++i) {
        in[i] = load(from + i * apart);
      }
      butterfly_of_five(in, y);
      store(y[0], to);
      for (int64_t i = 1; i < 5; ++i) {
        store(turn_back(y[i], hn::Set(f, cosines[i * angle]), hn::Set(f, sines[i * angle])),
              to + i * stride * kNumber);
      }
    }
  }
}

// The last pass where two numbers are left.
void pass_of_two(const float* x, int64_t stride, float* out) {
  constexpr int64_t kNumber = 2 * kRows;
  for (int64_t q = 0; q < stride; ++q) {
    const Complex a = load(x + q * kNumber);
    const Complex b = load(x + (q + stride) * kNumber);
    store(a + b, out + q * kNumber);
    store(a - b, out + (q + stride) * kNumber);
  }
}

HWY_INLINE V power(const Complex& z) {
  return hn::MulAdd(z.re, z.re, hn::Mul(z.im, z.im));
}

HWY_INLINE V magnitude(const Complex& z) {
  return hn::Sqrt(power(z));
}

// From Z, the transform of even samples + i odd samples (n / 2 numbers), what `size` makes of each
// number of the real samples' transform, as [bin][row]: with E and O the transforms of the even and
// the odd ones and w a turn by k / n, bin k is E + w O and bin n / 2 - k the conjugate of E - w O.
template <class Size>
HWY_INLINE void real_sizes(const float* z, int64_t n, const float* cosines, const float* sines,
                           const Size& size, float* out) {
  const Four f;
  constexpr int64_t kNumber = 2 * kRows;
  const V half = hn::Set(f, 0.5F);
  const int64_t numbers = n / 2;
  for (int64_t k = 0; k <= n / 4; ++k) {
    const Complex a = load(z + k * kNumber);
    const Complex b = load(z + (k == 0 ? 0 : numbers - k) * kNumber);
    const Complex even = {hn::Mul(half, hn::Add(a.re, b.re)), hn::Mul(half, hn::Sub(a.im, b.im))};
    const Complex odd = {hn::Mul(half, hn::Add(a.im, b.im)), hn::Mul(half, hn::Sub(b.re, a.re))};
    const Complex turned = turn_back(odd, hn::Set(f, cosines[k]), hn::Set(f, sines[k]));
    hn::StoreU(size(even + turned), f, out + k * kRows);
    hn::StoreU(size(even - turned), f, out + (numbers - k) * kRows);
  }
}

// The transform of pairs of samples as complex numbers, in one half of scratch; the other half is
// `other`.
float* transform(const float* x, int64_t x_stride, int64_t m, const Transform& how, float* scratch,
                 float*& other) {
  const int64_t n = how.n;
  float* from = scratch;
  float* to = scratch + (n + 2) * kRows;
  interleave(x, x_stride, m, n, how.window, from);
  int64_t length = n / 2;
  int64_t stride = 1;
  for (; length % 4 == 0; length /= 4, stride *= 4) {
    pass_of_four(from, length, stride, how.cosines, how.sines, n, to);
    std::swap(from, to);
  }
  for (; length % 5 == 0; length /= 5, stride *= 5) {
    pass_of_five(from, length, stride, how.cosines, how.sines, n, to);
    std::swap(from, to);
  }
  if (length == 2) {
    pass_of_two(from, stride, to);
    std::swap(from, to);
  }
  other = to;
  return from;
}

void magnitudes(const float* x, int64_t x_stride, int64_t m, const Transform& how, float* scratch,
                float* out, int64_t out_stride) {
  float* sizes = nullptr;
  const float* numbers = transform(x, x_stride, m, how, scratch, sizes);
  real_sizes(
      numbers, how.n, how.cosines, how.sines,
      [](const Complex& z) HWY_ATTR { return magnitude(z); }, sizes);
  deinterleave(sizes, how.n / 2 + 1, m, out, out_stride);
}

void powers(const float* x, int64_t x_stride, int64_t m, const Transform& how, float* scratch,
            float* out) {
  float* other = nullptr;
  const float* numbers = transform(x, x_stride, m, how, scratch, other);
  real_sizes(
      numbers, how.n, how.cosines, how.sines, [](const Complex& z) HWY_ATTR { return power(z); },
      out);
}

}  // namespace

void fill_spectrum(Kernels& kernels) {
  kernels.magnitudes = magnitudes;
  kernels.powers = powers;
}

}  // namespace mynah::cpu::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mynah::cpu {

void add_spectrum_kernels(Isa isa, Kernels& kernels) {
  MYNAH_FILL_FOR(isa, fill_spectrum, kernels);
}

}  // namespace mynah::cpu
#endif
