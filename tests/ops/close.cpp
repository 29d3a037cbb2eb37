#include "ops/close.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace mynah::cases {
namespace {

// How many bounds a value is away: at most 1 is good.
float excess(float found, float expected, float bound) {
  if (found == expected || (std::isnan(found) && std::isnan(expected))) {
    return 0.0F;
  }
  const float distance = std::fabs(found - expected);
  if (!(distance <= bound)) {  // also where something is not a number
    return std::isfinite(distance) && bound > 0.0F ? distance / bound
                                                   : std::numeric_limits<float>::infinity();
  }
  return distance / bound;
}

std::string disagreement_of(const Values& found, const Values& expected, const Values& bounds) {
  if (found.size() != expected.size() || bounds.size() != expected.size()) {
    return fmt::format("{} values and {} bounds where {} were expected", found.size(),
                       bounds.size(), expected.size());
  }
  size_t outside = 0;
  size_t worst = 0;
  float worst_excess = 0.0F;
  for (size_t i = 0; i < found.size(); ++i) {
    const float e = excess(found[i], expected[i], bounds[i]);
    outside += e > 1.0F ? 1 : 0;
    if (e > worst_excess) {
      worst_excess = e;
      worst = i;
    }
  }
  if (outside == 0) {
    return {};
  }
  return fmt::format(
      "worst at {}: {} where {} was expected, bound {} ({:.2f} bounds away), {} of {} outside",
      worst, found[worst], expected[worst], bounds[worst], worst_excess, outside, found.size());
}

}  // namespace

std::string disagreement(const std::vector<Values>& found, const std::vector<Values>& expected,
                         const std::vector<Values>& bounds) {
  if (found.size() != expected.size() || bounds.size() != expected.size()) {
    return fmt::format("{} results where {} were expected", found.size(), expected.size());
  }
  for (size_t i = 0; i < found.size(); ++i) {
    const std::string text = disagreement_of(found[i], expected[i], bounds[i]);
    if (!text.empty()) {
      return fmt::format("result {}: {}", i, text);
    }
  }
  return {};
}

std::vector<Values> exact_bounds(const std::vector<Values>& values) {
  std::vector<Values> bounds;
  bounds.reserve(values.size());
  for (const Values& v : values) {
    bounds.emplace_back(v.size(), 0.0F);
  }
  return bounds;
}

}  // namespace mynah::cases
