#include "models/hibari/fourier.h"

#include <cmath>
#include <numbers>
#include <utility>

namespace mynah::hibari {

namespace {

constexpr std::array<size_t, 5> kRadices = {4, 4, 3, 5, 5};
constexpr size_t kLargestRadix = 5;

struct Turn {
  float cosine;
  float sine;
};

// exp(-2 pi i k / kFrameSize).
const std::vector<Turn>& turns() {
  static const std::vector<Turn> kTurns = [] {
    std::vector<Turn> made;
    for (size_t k = 0; k < kFrameSize; ++k) {
      const double angle =
          -2.0 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(kFrameSize);
      made.push_back({.cosine = static_cast<float>(std::cos(angle)),
                      .sine = static_cast<float>(std::sin(angle))});
    }
    return made;
  }();
  return kTurns;
}

// sum += number * turn.
void add_turned(const Lane& real, const Lane& imaginary, Turn turn, Lane& sum_real,
                Lane& sum_imaginary) {
  for (size_t lane = 0; lane < kLanes; ++lane) {
    sum_real[lane] += real[lane] * turn.cosine - imaginary[lane] * turn.sine;
    sum_imaginary[lane] += real[lane] * turn.sine + imaginary[lane] * turn.cosine;
  }
}

// One step: `done` is the product of the radices before this one. Input q + s (p + m r) is summed
// over r into output q + s (radix p + k), where s = done.
void step(const Frames& from, Frames& to, size_t radix, size_t done, bool backwards) {
  const size_t length = kFrameSize / done;
  const size_t m = length / radix;
  const auto turn_of = [&](size_t k) {
    const Turn turn = turns()[k % kFrameSize];
    return backwards ? Turn{.cosine = turn.cosine, .sine = -turn.sine} : turn;
  };
  for (size_t p = 0; p < m; ++p) {
    // exp(-2 pi i k (r / radix + p / length)), of kFrameSize parts of a circle.
    std::array<std::array<Turn, kLargestRadix>, kLargestRadix> factors{};
    for (size_t k = 0; k < radix; ++k) {
      for (size_t r = 0; r < radix; ++r) {
        factors[k][r] = turn_of(k * (r * (kFrameSize / radix) + p * done));
      }
    }
    for (size_t q = 0; q < done; ++q) {
      for (size_t k = 0; k < radix; ++k) {
        Lane real{};
        Lane imaginary{};
        for (size_t r = 0; r < radix; ++r) {
          const size_t at = q + done * (p + m * r);
          add_turned(from.real[at], from.imaginary[at], factors[k][r], real, imaginary);
        }
        const size_t at = q + done * (radix * p + k);
        to.real[at] = real;
        to.imaginary[at] = imaginary;
      }
    }
  }
}

}  // namespace

void transform(Frames& x, Frames& scratch, bool backwards) {
  size_t done = 1;
  for (const size_t radix : kRadices) {
    step(x, scratch, radix, done, backwards);
    std::swap(x, scratch);
    done *= radix;
  }
}

}  // namespace mynah::hibari
