// A file mapped read-only into memory.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace mynah {

// Owns one read-only mapping. Shared by everything that views its bytes.
class MappedFile {
 public:
  // Maps the whole of a regular file. An empty file maps to no bytes.
  static Result<std::shared_ptr<const MappedFile>> open(const std::string& path);

  // Wraps bytes already in memory (a fuzzer's input, an archive's unpacked member) under a name for
  // messages.
  static std::shared_ptr<const MappedFile> from_bytes(std::span<const std::byte> bytes,
                                                      std::string name);

  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_, size_}; }

  [[nodiscard]] const std::string& path() const { return path_; }

  // Tells the kernel that a range is not needed for now, so that its pages stop counting as
  // resident.
  void release_pages(std::span<const std::byte> range) const;

 private:
  MappedFile() = default;

  std::string path_;
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
  bool mapped_ = false;
  std::unique_ptr<std::byte[]> owned_;
};

}  // namespace mynah
