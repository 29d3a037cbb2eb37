// MeaningIndex: the vectors of a memory's items, as the database has them, to be searched.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/sqlite.h"
#include "talk/memory/memory_store.h"
#include "talk/memory/vector_index.h"

namespace mynah::talk {

// Not thread-safe. Reads the database again where another process, or clear(), says that it
// changed.
class MeaningIndex {
 public:
  // `only`: ids that may be found; none: all that the filter means, but for MemoryFilter::ids and
  // containing.
  Result<std::vector<FoundItem>> search(const Database& database, std::string_view model,
                                        std::span<const float> vector, const MemoryFilter& filter,
                                        const std::optional<std::set<int64_t>>& only, size_t most);

  // Of a vector that was just put in; one that takes another's place has all read again.
  void added(std::string_view model, const MemoryItem& item, std::span<const uint16_t> vector);

  void clear() { index_.reset(); }

 private:
  struct Entry {
    int64_t id = 0;
    int64_t conversation = 0;
    int64_t at_ms = 0;
    MemoryKind kind = MemoryKind::Turn;
    MemoryOrigin origin = MemoryOrigin::User;
  };

  [[nodiscard]] Status read(const Database& database, std::string_view model, size_t width);
  [[nodiscard]] static bool means(const MemoryFilter& filter, const Entry& entry);

  std::string model_;
  int64_t version_ = 0;  // SQLite's data_version as it was read
  std::unique_ptr<VectorIndex> index_;
  std::vector<Entry> entries_;  // of index_'s places
  std::set<int64_t> ids_;       // of entries_
};

// As they are kept: bytes of f16.
[[nodiscard]] HalfVector halves_of(std::span<const float> vector);

}  // namespace mynah::talk
