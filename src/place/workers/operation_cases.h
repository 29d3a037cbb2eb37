// One case of each family of operations that models need: what a device must compute before it is
// trusted with a model. Small, and the same each time.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "place/wire/worker_protocol.h"
#include "tensor/backend.h"

namespace mynah::place {

// Every case on `backend`, in their order. Throws DeviceError.
[[nodiscard]] std::vector<OperationOutcome> run_operation_cases(Backend& backend);

// How far outcomes are from the definition's (backend/ref): the first case that differs by more
// than rounding can explain, in words; "" where none does. Outcomes that are missing differ.
[[nodiscard]] std::string compare_with_definition(std::span<const OperationOutcome> outcomes);

// The largest difference, as a share of the largest magnitude of `expected`. Infinite where sizes
// differ or a value is no number.
[[nodiscard]] double worst_difference(std::span<const float> found,
                                      std::span<const float> expected);

}  // namespace mynah::place
