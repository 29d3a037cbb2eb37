#include "speech/weight_cache.h"

#include <cstdio>

#include <fmt/core.h>

#include "store/packed_cache.h"
#include "store/sha256.h"

namespace mynah {

std::shared_ptr<BlobCache> open_weight_cache(const std::string& path, const std::string& folder,
                                             std::optional<DType> storage, Precision precision,
                                             const Backend& backend) {
  if (folder.empty()) {
    return nullptr;
  }
  const auto digest = model_digest(path, folder);
  if (!digest) {
    return nullptr;
  }
  const std::string type = storage ? std::string(name(*storage)) : std::string("file");
  const std::string how = precision == Precision::Exact ? "exact" : "fast";
  auto cache = PackedCache::open(
      folder,
      {.model_digest = *digest, .storage = type + "-" + how, .layout = backend.packed_layout()},
      // mynah and its workers load models; both have the user's standard error.
      [](const std::string& line) { fmt::print(stderr, "mynah: {}\n", line); });
  return cache ? std::shared_ptr<BlobCache>(std::move(*cache)) : nullptr;
}

StageCaches open_stage_caches(const std::string& path, const std::string& folder,
                              const StagePlace& first, const StagePlace& second) {
  const auto open = [&](const StagePlace& place) {
    return open_weight_cache(path, folder, place.storage, place.precision, *place.backend);
  };
  StageCaches caches{.first = open(first), .second = nullptr};
  const bool alike = first.storage == second.storage && first.precision == second.precision &&
                     first.backend->packed_layout() == second.backend->packed_layout();
  caches.second = alike ? caches.first : open(second);
  return caches;
}

}  // namespace mynah
