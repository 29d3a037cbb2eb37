#include "talk/memory/vector_index.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/vector_clones.h"
#include "tensor/quantize.h"

namespace mynah::talk {
namespace {

constexpr float kMostCode = 127;
// Above what rounding adds to the lengths below, which are computed in f64 and kept in f32.
constexpr double kSlack = 1.0 + 1e-6;

// The vector that is asked for, as whole numbers: asked = scale * code + rest.
struct AskedCode {
  std::vector<int16_t> code;
  double scale = 0;
  double rest = 0;    // its length
  double length = 0;  // of asked
};

AskedCode code_of(std::span<const float> asked) {
  float largest = 0;
  for (const float value : asked) {
    largest = std::max(largest, std::abs(value));
  }
  // A product of all is at most width * 127 * this.
  const double most =
      std::min<double>(std::numeric_limits<int16_t>::max(),
                       std::floor(double{std::numeric_limits<int32_t>::max()} /
                                  (double{kMostCode} * static_cast<double>(asked.size()))));
  AskedCode made{.code = std::vector<int16_t>(asked.size()), .scale = largest / most};
  double rest = 0;
  double length = 0;
  for (size_t i = 0; i < asked.size(); ++i) {
    const double whole = made.scale > 0 ? std::round(asked[i] / made.scale) : 0;
    made.code[i] = static_cast<int16_t>(std::clamp(whole, -most, most));
    const double left = asked[i] - made.scale * made.code[i];
    rest += left * left;
    length += double{asked[i]} * asked[i];
  }
  made.rest = std::sqrt(rest);
  made.length = std::sqrt(length);
  return made;
}

// products[i] of row i of codes (n, width) with `asked`.
MYNAH_VECTOR_CLONES
void multiply_codes(const int8_t* codes, size_t n, size_t width, const int16_t* asked,
                    int32_t* products) {
  for (size_t row = 0; row < n; ++row) {
    const int8_t* const code = codes + row * width;
    int32_t sum = 0;
    for (size_t i = 0; i < width; ++i) {
      sum += int32_t{code[i]} * int32_t{asked[i]};
    }
    products[row] = sum;
  }
}

}  // namespace

VectorIndex::VectorIndex(size_t width) : width_(width) {
  MYNAH_CHECK(width >= 1 && width <= kMostWidth, "a vector has 1 to 4096 numbers");
}

void VectorIndex::add(std::span<const uint16_t> vector) {
  MYNAH_CHECK(vector.size() == width_, "vectors of an index are as long");
  float largest = 0;
  for (const uint16_t half : vector) {
    largest = std::max(largest, std::abs(f16_to_f32(half)));
  }
  const float scale = largest / kMostCode;
  double rest = 0;
  double length = 0;
  for (const uint16_t half : vector) {
    const float value = f16_to_f32(half);
    const float whole =
        scale > 0 ? std::clamp(std::round(value / scale), -kMostCode, kMostCode) : 0;
    codes_.push_back(static_cast<int8_t>(whole));
    halves_.push_back(half);
    const double coded = double{scale} * double{whole};
    const double left = value - coded;
    rest += left * left;
    length += coded * coded;
  }
  bounds_.push_back({.scale = scale,
                     .rest = static_cast<float>(std::sqrt(rest) * kSlack),
                     .length = static_cast<float>(std::sqrt(length) * kSlack)});
}

double VectorIndex::product(std::span<const float> asked, size_t place) const {
  const auto half = std::span(halves_).subspan(place * width_, width_);
  double sum = 0;
  for (size_t i = 0; i < width_; ++i) {
    sum += double{asked[i]} * double{f16_to_f32(half[i])};
  }
  return sum;
}

// With v = s c + r and the asked q = t d + e: q v = s t (c d) + q r + e (s c), of which the last
// two are at most |q| |r| + |e| |s c| (Cauchy and Schwarz).
std::vector<VectorIndex::Near> VectorIndex::nearest(
    std::span<const float> asked, size_t most,
    const std::function<bool(size_t place)>& wanted) const {
  MYNAH_CHECK(asked.size() == width_, "what is asked for is as long as what is kept");
  if (most == 0 || bounds_.empty()) {
    return {};
  }
  const AskedCode code = code_of(asked);
  std::vector<int32_t> products(size());
  multiply_codes(codes_.data(), size(), width_, code.code.data(), products.data());

  struct Candidate {
    size_t place;
    double most;  // its product at most
  };

  std::vector<Candidate> candidates;
  // The products that the `most` best have at least, the smallest of them first.
  std::vector<double> least;
  const auto is_greater = std::greater<>();
  for (size_t place = 0; place < size(); ++place) {
    const Bound& bound = bounds_[place];
    const double about = double{bound.scale} * code.scale * products[place];
    const double off = (code.length * bound.rest + code.rest * bound.length) * kSlack;
    const bool full = least.size() == most;
    if ((full && about + off < least.front()) || !wanted(place)) {
      continue;
    }
    candidates.push_back({.place = place, .most = about + off});
    if (!full) {
      least.push_back(about - off);
      std::ranges::push_heap(least, is_greater);
    } else if (about - off > least.front()) {
      std::ranges::pop_heap(least, is_greater);
      least.back() = about - off;
      std::ranges::push_heap(least, is_greater);
    }
  }
  std::vector<Near> found;
  for (const Candidate& candidate : candidates) {
    if (candidate.most >= least.front()) {
      found.push_back({.place = candidate.place, .product = product(asked, candidate.place)});
    }
  }
  const size_t kept = std::min(most, found.size());
  std::ranges::partial_sort(
      found, found.begin() + static_cast<ptrdiff_t>(kept), [](const Near& a, const Near& b) {
        return a.product != b.product ? a.product > b.product : a.place < b.place;
      });
  found.resize(kept);
  return found;
}

}  // namespace mynah::talk
