// Discrete Fourier transforms of real numbers in shared memory: n points as n / 2 complex ones
// (even and odd points as real and imaginary parts), passes of radix 4, 2 and 5 from one buffer to
// another in Stockham's order, which needs no permutation (Cooley & Tukey 1965; Van Loan 1992,
// "Computational Frameworks for the Fast Fourier Transform", 1.7).
#pragma once

#include "backend/cuda/simt/simt.h"

namespace mynah::simt {

struct Complex {
  float real;
  float imaginary;
};

inline Complex operator+(const Complex& a, const Complex& b) {
  return {a.real + b.real, a.imaginary + b.imaginary};
}

inline Complex operator-(const Complex& a, const Complex& b) {
  return {a.real - b.real, a.imaginary - b.imaginary};
}

inline Complex operator*(float a, const Complex& b) {
  return {a * b.real, a * b.imaginary};
}

inline Complex operator*(const Complex& a, const Complex& b) {
  return {multiply_add(a.real, b.real, -(a.imaginary * b.imaginary)),
          multiply_add(a.real, b.imaginary, a.imaginary * b.real)};
}

// Times -i.
inline Complex turned_back(const Complex& a) {
  return {a.imaginary, -a.real};
}

inline Complex conjugate(const Complex& a) {
  return {a.real, -a.imaginary};
}

// Number i of a buffer.
inline Complex number_at(const Shared<float>& buffers, int i) {
  const Vector<float, 2> pair = buffers.load<2>(2 * i);
  return {pair[0], pair[1]};
}

inline void put_number(const Shared<float>& buffers, int i, const Complex& value) {
  buffers.store<2>(2 * i, {value.real, value.imaginary});
}

// exp(-2 pi i t / n), from the table of n.
inline Complex twiddle(const Global<const float>& table, int t) {
  const Vector<float, 2> pair = table.load<2>(2 * t);
  return {pair[0], -pair[1]};
}

template <int kRadix>
inline void small_transform(Complex (&v)[kRadix]);

template <>
inline void small_transform<2>(Complex (&v)[2]) {
  const Complex difference = v[0] - v[1];
  v[0] = v[0] + v[1];
  v[1] = difference;
}

template <>
inline void small_transform<4>(Complex (&v)[4]) {
  const Complex even = v[0] + v[2];
  const Complex even_less = v[0] - v[2];
  const Complex odd = v[1] + v[3];
  const Complex odd_less = turned_back(v[1] - v[3]);
  v[0] = even + odd;
  v[1] = even_less + odd_less;
  v[2] = even - odd;
  v[3] = even_less - odd_less;
}

template <>
inline void small_transform<5>(Complex (&v)[5]) {
  constexpr float kCos1 = 0.309016994F;   // cos(2 pi / 5)
  constexpr float kCos2 = -0.809016994F;  // cos(4 pi / 5)
  constexpr float kSin1 = 0.951056516F;
  constexpr float kSin2 = 0.587785252F;
  const Complex sum1 = v[1] + v[4];
  const Complex sum2 = v[2] + v[3];
  const Complex less1 = v[1] - v[4];
  const Complex less2 = v[2] - v[3];
  const Complex middle1 = v[0] + kCos1 * sum1 + kCos2 * sum2;
  const Complex middle2 = v[0] + kCos2 * sum1 + kCos1 * sum2;
  const Complex side1 = turned_back(kSin1 * less1 + kSin2 * less2);
  const Complex side2 = turned_back(kSin2 * less1 - kSin1 * less2);
  v[0] = v[0] + sum1 + sum2;
  v[1] = middle1 + side1;
  v[2] = middle2 + side2;
  v[3] = middle2 - side2;
  v[4] = middle1 - side1;
}

// What all passes have in common: `rows` transforms of `count` complex numbers side by side.
struct Transforms {
  int rows;
  int count;
};

// One pass: transforms of `done` numbers become transforms of kRadix times as many.
template <int kRadix>
inline void transform_pass(const Shared<float>& buffers, int from, int to, const Transforms& all,
                           int done, const Global<const float>& table) {
  const int each = all.count / kRadix;
  const int step = 2 * all.count / (done * kRadix);  // of the table, whose n is 2 * count
  for (int i = thread_index(); i < all.rows * each; i += thread_count()) {
    const int row = i / each;
    const int j = i - row * each;
    const int k = j % done;
    Complex v[kRadix];
    for (int q = 0; q < kRadix; ++q) {
      v[q] = number_at(buffers, from + row * all.count + j + q * each);
    }
    for (int q = 1; q < kRadix; ++q) {
      v[q] = v[q] * twiddle(table, q * k * step);
    }
    small_transform(v);
    const int first = to + row * all.count + (j - k) * kRadix + k;
    for (int q = 0; q < kRadix; ++q) {
      put_number(buffers, first + q * done, v[q]);
    }
  }
}

// Transforms all.rows rows of the buffers' first half; all threads call it. Returns the number at
// which the results begin: 0, or rows * count in the other half. all.count is twos and fives.
inline int transform(const Shared<float>& buffers, const Transforms& all,
                     const Global<const float>& table) {
  int from = 0;
  int to = all.rows * all.count;
  int done = 1;
  for (int left = all.count; left > 1;) {
    barrier();
    if (left % 4 == 0) {
      transform_pass<4>(buffers, from, to, all, done, table);
      done *= 4;
      left /= 4;
    } else if (left % 2 == 0) {
      transform_pass<2>(buffers, from, to, all, done, table);
      done *= 2;
      left /= 2;
    } else {
      transform_pass<5>(buffers, from, to, all, done, table);
      done *= 5;
      left /= 5;
    }
    const int results = to;
    to = from;
    from = results;
  }
  barrier();
  return from;
}

// Power of frequency f, up to `count`, of the row whose transform begins at `begin`: the even
// points' transform plus the odd ones', turned.
inline float power_of(const Shared<float>& buffers, int begin, int count, int f,
                      const Global<const float>& table) {
  const Complex a = number_at(buffers, begin + (f == count ? 0 : f));
  const Complex b = conjugate(number_at(buffers, begin + (f == 0 ? 0 : count - f)));
  const Complex even = 0.5F * (a + b);
  const Complex odd = turned_back(0.5F * (a - b));
  const Complex whole = even + twiddle(table, f) * odd;
  return multiply_add(whole.real, whole.real, whole.imaginary * whole.imaginary);
}

}  // namespace mynah::simt
