// Packed weights of another run of a model.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "nn/blob_cache.h"
#include "speech/stage_place.h"
#include "tensor/backend.h"

namespace mynah {

// The cache of the model file at `path` for a backend, a storage type (none: the file's own) and a
// precision. Null where `folder` is empty or nothing can be kept there: loading then takes longer.
[[nodiscard]] std::shared_ptr<BlobCache> open_weight_cache(const std::string& path,
                                                           const std::string& folder,
                                                           std::optional<DType> storage,
                                                           Precision precision,
                                                           const Backend& backend);

// Caches of a model's two stages, as open_weight_cache() opens them: one, where both are laid out
// and kept alike, since a file has one writer.
struct StageCaches {
  std::shared_ptr<BlobCache> first;
  std::shared_ptr<BlobCache> second;
};

// Both places have a backend.
[[nodiscard]] StageCaches open_stage_caches(const std::string& path, const std::string& folder,
                                            const StagePlace& first, const StagePlace& second);

}  // namespace mynah
