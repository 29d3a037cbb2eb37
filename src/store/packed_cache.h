// PackedCache: one mapped file that keeps a model's packed weights and other prepared bytes, shared
// read-only by every process that runs the model.
//
// The file, all integers little-endian:
//   header (160 bytes): "MYNAHPK2", u64 file bytes, u64 table offset, u64 table bytes, key (64 hex
//     digits), SHA-256 of header so far and table (64 hex digits)
//   blobs, each on a 64-byte boundary
//   table: for each blob u32 name bytes, name, u64 offset, u64 bytes, u64 XXH3 of its bytes
// Opening checks the header, the table and every size; a blob is checked when it is asked for, so
// that a start touches only the pages it uses. Who found all of them whole notes the file's size,
// time and inode beside it (PATH.packed.whole), and until one of these changes, or the day does,
// none is checked again: reading them all takes longer than all else of a start.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "nn/blob_cache.h"

namespace mynah {

// What a packed file belongs to. Any difference makes another file, or makes an old one stale.
struct PackedCacheKey {
  std::string model_digest;  // model_digest() of the model file, store/sha256.h
  std::string storage;       // name(DType) of the weights
  std::string layout;        // Backend::packed_layout()
};

// Safe with several processes at once: each writes a file of its own and renames it into place; the
// last one wins, and who has mapped an older one keeps it. Who writes one removes those that nobody
// opened for a month.
class PackedCache final : public BlobCache {
 public:
  // Opens the cache of `key` in `cache_folder` (PATH/packed/...). A file that is missing, stale or
  // damaged is an empty cache that commit() will replace. Fails only where the folder cannot be
  // made. `on_damage` is told of the first blob that is not what was written, and may be empty.
  static Result<std::unique_ptr<PackedCache>> open(
      const std::string& cache_folder, const PackedCacheKey& key,
      std::function<void(const std::string&)> on_damage = {});
  ~PackedCache() override;

  // One that is not what was written is none: what is added in its place is kept.
  [[nodiscard]] std::optional<Blob> find(std::string_view name) const override;
  Status add(std::string_view name, std::span<const std::byte> bytes) override;
  Status commit() override;
  void release_pages() const override;

  // Where the blobs lie, or will lie.
  [[nodiscard]] const std::string& path() const { return path_; }

  [[nodiscard]] size_t blobs() const { return entries_.size(); }

 private:
  enum class Check : uint8_t { NotYet, Whole, Damaged };

  struct Entry {
    uint64_t offset = 0;
    uint64_t bytes = 0;
    uint64_t checksum = 0;
    mutable Check check = Check::NotYet;  // of its bytes in file_
  };

  using Table = std::map<std::string, Entry, std::less<>>;
  class Writer;

  PackedCache(std::string path, std::string key, std::function<void(const std::string&)> on_damage);
  // Maps the file at path_ if it is whole and of this key.
  void load();
  // Notes that no blob needs to be checked again, if all were found whole.
  void note_whole();
  static std::optional<Table> read_table(std::span<const std::byte> file, std::string_view key);
  [[nodiscard]] std::span<const std::byte> bytes_of(const Entry& entry) const;
  // Reads a blob, the first time.
  bool is_whole(const std::string& name, const Entry& entry) const;

  std::string path_;
  std::string key_;                                            // SHA-256 of the PackedCacheKey
  mutable std::function<void(const std::string&)> on_damage_;  // empty once it was told
  std::shared_ptr<const MappedFile> file_;
  Table entries_;
  std::string unchecked_;  // file_identity() of file_, where it is not noted and may be
  std::unique_ptr<Writer> writer_;
};

// Removes a model's packed files of one layout (Backend::packed_layout()).
void remove_packed_layout(const std::string& cache_folder, const std::string& model_digest,
                          const std::string& layout);

// Removes every packed file of a model; returns the bytes freed.
uint64_t remove_packed_files(const std::string& cache_folder, const std::string& model_digest);

}  // namespace mynah
