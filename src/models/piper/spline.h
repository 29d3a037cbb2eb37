// Monotonic rational-quadratic splines (Durkan, Bekasov, Murray and Papamakarios 2019, Neural
// Spline Flows, arXiv:1906.04032, section 3), run backwards.
#pragma once

#include <span>

namespace mynah::piper {

// Outside [-kSplineReach, kSplineReach] a value stays what it is (VITS models.py, ConvFlow,
// tail_bound).
inline constexpr double kSplineReach = 5.0;

// The x at which the spline is y. Bins' widths and heights as a network gives them, before their
// softmax, as many; derivatives at the bins' inner borders before their softplus, one fewer; at the
// outer borders the derivative is 1.
[[nodiscard]] double inverse_spline(double y, std::span<const float> widths,
                                    std::span<const float> heights,
                                    std::span<const float> derivatives);

}  // namespace mynah::piper
