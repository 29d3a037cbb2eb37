// ByteSink: where the bytes of a sound file go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/atomic_file.h"
#include "base/result.h"

namespace mynah {

class ByteSink {
 public:
  virtual ~ByteSink() = default;

  // Appends.
  virtual Status write(std::span<const std::byte> bytes) = 0;

  // True where what was written can be written over, as in a file; false where it is gone, as in a
  // pipe.
  [[nodiscard]] virtual bool keeps() const = 0;

  // Writes over bytes from `offset` on, all of which were written before. Only where keeps().
  virtual Status overwrite(uint64_t offset, std::span<const std::byte> bytes) = 0;
};

// A file that appears whole under its name once it is committed.
class FileSink final : public ByteSink {
 public:
  explicit FileSink(AtomicFile file) : file_(std::move(file)) {}

  Status write(std::span<const std::byte> bytes) override { return file_.write(bytes); }

  [[nodiscard]] bool keeps() const override { return true; }

  Status overwrite(uint64_t offset, std::span<const std::byte> bytes) override {
    return file_.overwrite(offset, bytes);
  }

  Status commit() { return file_.commit(); }

  Status commit_as(const std::string& path) { return file_.commit_as(path); }

 private:
  AtomicFile file_;
};

}  // namespace mynah
