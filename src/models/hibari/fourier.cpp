#include "models/hibari/fourier.h"

#include <cmath>
#include <numbers>
#include <utility>

#include "base/vector_clones.h"

namespace mynah::hibari {

namespace {

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

// A step by a radix turns numbers q + s (p + m r), r below the radix, into numbers
// q + s (radix p + k), where s is the product of the radices before it and m what is left of the
// size after it: their own transform of `radix` numbers, times exp(-2 pi i k p / (radix m)).
struct Step {
  const float* real;
  const float* imaginary;
  float* to_real;
  float* to_imaginary;
  const Turn* turns;
  size_t done;  // s

  // From one input of a transform to its next, in floats.
  [[nodiscard]] size_t apart(size_t radix) const { return kFrameSize / radix * kLanes; }

  [[nodiscard]] size_t count(size_t radix) const { return kFrameSize / done / radix; }

  [[nodiscard]] Turn turn(size_t p, size_t k) const { return turns[p * k * done]; }
};

MYNAH_VECTOR_CLONES void by_fours(const Step& step) {
  const size_t apart = step.apart(4);
  const size_t next = step.done * kLanes;
  for (size_t p = 0; p < step.count(4); ++p) {
    const Turn one = step.turn(p, 1);
    const Turn two = step.turn(p, 2);
    const Turn three = step.turn(p, 3);
    const float* __restrict x = step.real + p * next;
    const float* __restrict y = step.imaginary + p * next;
    float* __restrict to_x = step.to_real + 4 * p * next;
    float* __restrict to_y = step.to_imaginary + 4 * p * next;
    for (size_t i = 0; i < next; ++i) {
      const float even_x = x[i] + x[i + 2 * apart];
      const float even_y = y[i] + y[i + 2 * apart];
      const float even_less_x = x[i] - x[i + 2 * apart];
      const float even_less_y = y[i] - y[i + 2 * apart];
      const float odd_x = x[i + apart] + x[i + 3 * apart];
      const float odd_y = y[i + apart] + y[i + 3 * apart];
      const float odd_less_x = x[i + apart] - x[i + 3 * apart];
      const float odd_less_y = y[i + apart] - y[i + 3 * apart];
      const float x1 = even_less_x + odd_less_y;
      const float y1 = even_less_y - odd_less_x;
      const float x2 = even_x - odd_x;
      const float y2 = even_y - odd_y;
      const float x3 = even_less_x - odd_less_y;
      const float y3 = even_less_y + odd_less_x;
      to_x[i] = even_x + odd_x;
      to_y[i] = even_y + odd_y;
      to_x[i + next] = x1 * one.cosine - y1 * one.sine;
      to_y[i + next] = x1 * one.sine + y1 * one.cosine;
      to_x[i + 2 * next] = x2 * two.cosine - y2 * two.sine;
      to_y[i + 2 * next] = x2 * two.sine + y2 * two.cosine;
      to_x[i + 3 * next] = x3 * three.cosine - y3 * three.sine;
      to_y[i + 3 * next] = x3 * three.sine + y3 * three.cosine;
    }
  }
}

MYNAH_VECTOR_CLONES void by_threes(const Step& step) {
  constexpr float kSine = 0.86602540378F;  // of 120 degrees, whose cosine is -1/2
  const size_t apart = step.apart(3);
  const size_t next = step.done * kLanes;
  for (size_t p = 0; p < step.count(3); ++p) {
    const Turn one = step.turn(p, 1);
    const Turn two = step.turn(p, 2);
    const float* __restrict x = step.real + p * next;
    const float* __restrict y = step.imaginary + p * next;
    float* __restrict to_x = step.to_real + 3 * p * next;
    float* __restrict to_y = step.to_imaginary + 3 * p * next;
    for (size_t i = 0; i < next; ++i) {
      const float sum_x = x[i + apart] + x[i + 2 * apart];
      const float sum_y = y[i + apart] + y[i + 2 * apart];
      const float less_x = kSine * (x[i + apart] - x[i + 2 * apart]);
      const float less_y = kSine * (y[i + apart] - y[i + 2 * apart]);
      const float middle_x = x[i] - 0.5F * sum_x;
      const float middle_y = y[i] - 0.5F * sum_y;
      const float x1 = middle_x + less_y;
      const float y1 = middle_y - less_x;
      const float x2 = middle_x - less_y;
      const float y2 = middle_y + less_x;
      to_x[i] = x[i] + sum_x;
      to_y[i] = y[i] + sum_y;
      to_x[i + next] = x1 * one.cosine - y1 * one.sine;
      to_y[i + next] = x1 * one.sine + y1 * one.cosine;
      to_x[i + 2 * next] = x2 * two.cosine - y2 * two.sine;
      to_y[i + 2 * next] = x2 * two.sine + y2 * two.cosine;
    }
  }
}

MYNAH_VECTOR_CLONES void by_fives(const Step& step) {
  constexpr float kCosine1 = 0.30901699437F;   // of 72 degrees
  constexpr float kCosine2 = -0.80901699437F;  // of 144
  constexpr float kSine1 = 0.95105651630F;
  constexpr float kSine2 = 0.58778525229F;
  const size_t apart = step.apart(5);
  const size_t next = step.done * kLanes;
  for (size_t p = 0; p < step.count(5); ++p) {
    const Turn one = step.turn(p, 1);
    const Turn two = step.turn(p, 2);
    const Turn three = step.turn(p, 3);
    const Turn four = step.turn(p, 4);
    const float* __restrict x = step.real + p * next;
    const float* __restrict y = step.imaginary + p * next;
    float* __restrict to_x = step.to_real + 5 * p * next;
    float* __restrict to_y = step.to_imaginary + 5 * p * next;
    for (size_t i = 0; i < next; ++i) {
      const float outer_x = x[i + apart] + x[i + 4 * apart];
      const float outer_y = y[i + apart] + y[i + 4 * apart];
      const float inner_x = x[i + 2 * apart] + x[i + 3 * apart];
      const float inner_y = y[i + 2 * apart] + y[i + 3 * apart];
      const float outer_less_x = x[i + apart] - x[i + 4 * apart];
      const float outer_less_y = y[i + apart] - y[i + 4 * apart];
      const float inner_less_x = x[i + 2 * apart] - x[i + 3 * apart];
      const float inner_less_y = y[i + 2 * apart] - y[i + 3 * apart];
      const float even1_x = x[i] + kCosine1 * outer_x + kCosine2 * inner_x;
      const float even1_y = y[i] + kCosine1 * outer_y + kCosine2 * inner_y;
      const float even2_x = x[i] + kCosine2 * outer_x + kCosine1 * inner_x;
      const float even2_y = y[i] + kCosine2 * outer_y + kCosine1 * inner_y;
      // Times -i.
      const float odd1_x = kSine1 * outer_less_y + kSine2 * inner_less_y;
      const float odd1_y = -(kSine1 * outer_less_x + kSine2 * inner_less_x);
      const float odd2_x = kSine2 * outer_less_y - kSine1 * inner_less_y;
      const float odd2_y = kSine1 * inner_less_x - kSine2 * outer_less_x;
      const float x1 = even1_x + odd1_x;
      const float y1 = even1_y + odd1_y;
      const float x2 = even2_x + odd2_x;
      const float y2 = even2_y + odd2_y;
      const float x3 = even2_x - odd2_x;
      const float y3 = even2_y - odd2_y;
      const float x4 = even1_x - odd1_x;
      const float y4 = even1_y - odd1_y;
      to_x[i] = x[i] + outer_x + inner_x;
      to_y[i] = y[i] + outer_y + inner_y;
      to_x[i + next] = x1 * one.cosine - y1 * one.sine;
      to_y[i + next] = x1 * one.sine + y1 * one.cosine;
      to_x[i + 2 * next] = x2 * two.cosine - y2 * two.sine;
      to_y[i + 2 * next] = x2 * two.sine + y2 * two.cosine;
      to_x[i + 3 * next] = x3 * three.cosine - y3 * three.sine;
      to_y[i + 3 * next] = x3 * three.sine + y3 * three.cosine;
      to_x[i + 4 * next] = x4 * four.cosine - y4 * four.sine;
      to_y[i + 4 * next] = x4 * four.sine + y4 * four.cosine;
    }
  }
}

struct Radix {
  size_t numbers;
  void (*step)(const Step& step);
};

constexpr std::array<Radix, 5> kRadices = {
    {{4, by_fours}, {4, by_fours}, {3, by_threes}, {5, by_fives}, {5, by_fives}}};

}  // namespace

void transform(Frames& x, Frames& scratch, bool backwards) {
  size_t done = 1;
  for (const Radix& radix : kRadices) {
    // Backwards real and imaginary parts change places: i conj(z) is z with them changed.
    const Frames& from = x;
    radix.step({.real = (backwards ? from.imaginary : from.real).front().data(),
                .imaginary = (backwards ? from.real : from.imaginary).front().data(),
                .to_real = (backwards ? scratch.imaginary : scratch.real).front().data(),
                .to_imaginary = (backwards ? scratch.real : scratch.imaginary).front().data(),
                .turns = turns().data(),
                .done = done});
    std::swap(x, scratch);
    done *= radix.numbers;
  }
}

}  // namespace mynah::hibari
