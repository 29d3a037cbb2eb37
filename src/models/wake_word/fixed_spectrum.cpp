#include "models/wake_word/fixed_spectrum.h"

#include <cmath>
#include <numbers>

namespace mynah::wake_word {
namespace {

constexpr int kFractionBits = 15;
constexpr int32_t kMostSample = 32767;
constexpr size_t kRadix = 4;

int16_t rounded_product(int32_t product) {
  return static_cast<int16_t>((product + (1 << (kFractionBits - 1))) >> kFractionBits);
}

// A division as the reference does it: by a product with what 1 / parts is in 15 bits.
int16_t divided(int16_t value, int32_t parts) {
  return rounded_product(int32_t{value} * (kMostSample / parts));
}

FixedComplex divided(FixedComplex value, int32_t parts) {
  return {divided(value.real, parts), divided(value.imaginary, parts)};
}

// Sums and differences wrap at 16 bits, as there.
FixedComplex operator+(FixedComplex a, FixedComplex b) {
  return {static_cast<int16_t>(a.real + b.real), static_cast<int16_t>(a.imaginary + b.imaginary)};
}

FixedComplex operator-(FixedComplex a, FixedComplex b) {
  return {static_cast<int16_t>(a.real - b.real), static_cast<int16_t>(a.imaginary - b.imaginary)};
}

FixedComplex operator*(FixedComplex a, FixedComplex b) {
  return {rounded_product((int32_t{a.real} * b.real) - (int32_t{a.imaginary} * b.imaginary)),
          rounded_product((int32_t{a.real} * b.imaginary) + (int32_t{a.imaginary} * b.real))};
}

FixedComplex turn(double phase) {
  return {static_cast<int16_t>(std::floor(0.5 + (kMostSample * std::cos(phase)))),
          static_cast<int16_t>(std::floor(0.5 + (kMostSample * std::sin(phase))))};
}

// Four values, `apart` from each other, that are transforms of a quarter each, become one of all.
void combine(FixedComplex* values, size_t apart, FixedComplex turn1, FixedComplex turn2,
             FixedComplex turn3) {
  const FixedComplex first = divided(values[0], kRadix);
  const FixedComplex second = divided(values[apart], kRadix) * turn1;
  const FixedComplex third = divided(values[2 * apart], kRadix) * turn2;
  const FixedComplex fourth = divided(values[3 * apart], kRadix) * turn3;
  const FixedComplex even = first + third;
  const FixedComplex even_rest = first - third;
  const FixedComplex odd = second + fourth;
  const FixedComplex odd_rest = second - fourth;
  const FixedComplex quarter = {odd_rest.imaginary, static_cast<int16_t>(-odd_rest.real)};
  values[0] = even + odd;
  values[apart] = even_rest + quarter;
  values[2 * apart] = even - odd;
  values[3 * apart] = even_rest - quarter;
}

}  // namespace

FixedSpectrum::FixedSpectrum() {
  for (size_t k = 0; k < kHalf; ++k) {
    turns_[k] = turn(-2 * std::numbers::pi * static_cast<double>(k) / kHalf);
    size_t reversed = 0;
    for (size_t digit = 1, left = k; digit < kHalf; digit *= kRadix, left /= kRadix) {
      reversed = (reversed * kRadix) + (left % kRadix);
    }
    order_[k] = static_cast<uint8_t>(reversed);
  }
  for (size_t k = 0; k < half_turns_.size(); ++k) {
    half_turns_[k] = turn(-std::numbers::pi * ((static_cast<double>(k + 1) / kHalf) + 0.5));
  }
}

void FixedSpectrum::transform(std::array<FixedComplex, kHalf>& values) const {
  for (size_t apart = 1; apart < kHalf; apart *= kRadix) {
    const size_t step = kHalf / (apart * kRadix);
    for (size_t begin = 0; begin < kHalf; begin += apart * kRadix) {
      for (size_t k = 0; k < apart; ++k) {
        combine(values.data() + begin + k, apart, turns_[k * step], turns_[2 * k * step],
                turns_[3 * k * step]);
      }
    }
  }
}

std::array<FixedComplex, kSpectrumBins> FixedSpectrum::of(
    std::span<const int16_t, kTransformSize> samples) const {
  // Even samples are the real, odd ones the imaginary parts of half as many values.
  std::array<FixedComplex, kHalf> values;
  for (size_t k = 0; k < kHalf; ++k) {
    const size_t from = size_t{2} * order_[k];
    values[k] = {samples[from], samples[from + 1]};
  }
  transform(values);
  std::array<FixedComplex, kSpectrumBins> bins;
  const FixedComplex constant = divided(values[0], 2);
  bins[0] = {static_cast<int16_t>(constant.real + constant.imaginary), 0};
  bins[kHalf] = {static_cast<int16_t>(constant.real - constant.imaginary), 0};
  for (size_t k = 1; k <= kHalf / 2; ++k) {
    const FixedComplex mirrored = values[kHalf - k];
    const FixedComplex here = divided(values[k], 2);
    const FixedComplex there =
        divided({mirrored.real, static_cast<int16_t>(-mirrored.imaginary)}, 2);
    const FixedComplex even = here + there;
    const FixedComplex odd = (here - there) * half_turns_[k - 1];
    bins[k] = {static_cast<int16_t>((even.real + odd.real) >> 1),
               static_cast<int16_t>((even.imaginary + odd.imaginary) >> 1)};
    bins[kHalf - k] = {static_cast<int16_t>((even.real - odd.real) >> 1),
                       static_cast<int16_t>((odd.imaginary - even.imaginary) >> 1)};
  }
  return bins;
}

}  // namespace mynah::wake_word
