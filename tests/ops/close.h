// Whether results are within their bounds, and if not, where and by how much.
#pragma once

#include <string>

#include "ops/op_case.h"

namespace mynah::cases {

// Empty where every element of every result is within its bound of the expected one; NaN agrees
// with NaN, an infinity only with itself. Else the worst element's index, both values and its
// bound, and how many are outside.
std::string disagreement(const std::vector<Values>& found, const std::vector<Values>& expected,
                         const std::vector<Values>& bounds);

// Bounds of zero for every element of `values`.
std::vector<Values> exact_bounds(const std::vector<Values>& values);

}  // namespace mynah::cases
