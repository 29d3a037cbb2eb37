// Tensors joined along their last dimension.
#pragma once

#include <span>

#include "ops/ops.h"

namespace mynah {

// (rows, a), (rows, b), ... -> (rows, a + b + ...).
[[nodiscard]] Tensor beside(Backend& backend, std::span<const Tensor> parts);

}  // namespace mynah
