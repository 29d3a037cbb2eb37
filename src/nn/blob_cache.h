// BlobCache: where a model's loader keeps bytes that cost time to make (packed weights, the states
// of silence) between runs. Abstract here, so that models know nothing of files; implemented by
// store/packed_cache.h.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"

namespace mynah {

// Bytes found in a cache, and what keeps them alive. They start on a 64-byte boundary.
struct Blob {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

// Named blobs of one model, storage type and packed layout. One thread at a time.
class BlobCache {
 public:
  BlobCache() = default;
  virtual ~BlobCache() = default;
  BlobCache(const BlobCache&) = delete;
  BlobCache& operator=(const BlobCache&) = delete;

  // The committed blob of that name, if there is one.
  [[nodiscard]] virtual std::optional<Blob> find(std::string_view name) const = 0;

  // Takes a copy for the next commit(), so the caller may free its own. A name that is there
  // already keeps what it has. Fails where the cache cannot be written; the loader then goes on
  // without it.
  virtual Status add(std::string_view name, std::span<const std::byte> bytes) = 0;

  // Makes what was added since the last commit visible to find() and to other processes, all of it
  // or nothing. Blobs committed before are kept.
  virtual Status commit() = 0;

  // Lets go of the blobs' pages, where they lie in a file: they stop counting as this process's
  // memory until they are read again.
  virtual void release_pages() const = 0;
};

}  // namespace mynah
