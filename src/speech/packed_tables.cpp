#include "speech/packed_tables.h"

#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "store/packed_cache.h"
#include "store/sha256.h"

namespace mynah {
namespace {

constexpr std::string_view kTable = "table";

// Null where it cannot be written.
std::unique_ptr<PackedCache> cache_of(const std::string& path, const std::string& folder) {
  auto digest = model_digest(path, folder);
  if (!digest) {
    return nullptr;
  }
  // The layout changes with what Pronunciations::pack() and Tagger::pack() write.
  auto cache = PackedCache::open(
      folder,
      {.model_digest = *std::move(digest), .storage = "english", .layout = "string-table-1"});
  return cache ? *std::move(cache) : nullptr;
}

std::optional<StringTable> kept_table(const PackedCache& cache) {
  const std::optional<Blob> blob = cache.find(kTable);
  return blob ? StringTable::open(
                    {reinterpret_cast<const char*>(blob->bytes.data()), blob->bytes.size()},
                    blob->owner)
              : std::nullopt;
}

}  // namespace

TableSource packed_tables(const std::string& cache_folder) {
  if (cache_folder.empty()) {
    return nullptr;
  }
  return [cache_folder](const std::string& path,
                        FunctionRef<Result<std::string>()> pack) -> Result<StringTable> {
    const std::unique_ptr<PackedCache> cache = cache_of(path, cache_folder);
    if (cache != nullptr) {
      if (auto kept = kept_table(*cache)) {
        return *std::move(kept);
      }
    }
    MYNAH_TRY(std::string bytes, pack());
    if (cache != nullptr && cache->add(kTable, std::as_bytes(std::span(bytes))) &&
        cache->commit()) {
      if (auto kept = kept_table(*cache)) {
        return *std::move(kept);  // mapped, as the next start has it
      }
    }
    return StringTable::of(std::move(bytes));
  };
}

}  // namespace mynah
