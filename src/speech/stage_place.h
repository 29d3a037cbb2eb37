// StagePlace: where a stage of a model computes that is not where the rest of it does.
#pragma once

#include <optional>

#include "nn/weights.h"
#include "tensor/backend.h"

namespace mynah {

struct StagePlace {
  Backend* backend = nullptr;             // must outlive the model; null: that of the rest
  std::optional<DType> storage;           // of the stage's weights; none: the file's own
  Precision precision = Precision::Fast;  // Exact: f32 arithmetic whatever the storage

  // The place, with the rest's backend where it has none.
  [[nodiscard]] StagePlace beside(Backend& rest) const {
    return {.backend = backend == nullptr ? &rest : backend,
            .storage = storage,
            .precision = precision};
  }

  // As a model is told it; `cache` may be null.
  [[nodiscard]] StageWeights weights(BlobCache* cache = nullptr) const {
    return {.backend = backend,
            .options = {.storage = storage, .precision = precision, .cache = cache}};
  }
};

// Gives back what loading a model left with the backends of its two stages.
inline void release_idle_memory(const StagePlace& one, const StagePlace& other) {
  one.backend->release_idle_memory();
  if (!share_tensors(*one.backend, *other.backend)) {
    other.backend->release_idle_memory();
  }
}

}  // namespace mynah
