// StageBackend: what a model of any kind computes one of its stages with.
#pragma once

#include <optional>

#include "tensor/backend.h"
#include "tensor/dtype.h"

namespace mynah::place {

// One stage's backend, which must outlive the model, and its weights' type.
struct StageBackend {
  Backend& backend;
  std::optional<DType> storage;
};

}  // namespace mynah::place
