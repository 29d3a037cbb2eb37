// Packed weights of another run of a model.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "nn/blob_cache.h"
#include "tensor/backend.h"

namespace mynah {

// The cache of the model file at `path` for a backend, a storage type (none: the file's own) and a
// precision. Null where `folder` is empty or nothing can be kept there: loading then takes longer.
[[nodiscard]] std::shared_ptr<BlobCache> open_weight_cache(const std::string& path,
                                                           const std::string& folder,
                                                           std::optional<DType> storage,
                                                           Precision precision,
                                                           const Backend& backend);

}  // namespace mynah
