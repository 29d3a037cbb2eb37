// SharedMemory: memory that this process and a child both see, without a name in any file system:
// it is gone when the last of them is.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace mynah {

class SharedMemory {
 public:
  // Zeros, readable and writable. `name` shows in /proc/PID/maps and /proc/PID/fd.
  static Result<SharedMemory> create(const std::string& name, size_t bytes);

  // What another process created; its size as it is now. InvalidInput for a file that could be cut
  // short while it is mapped, which would end whoever reads it.
  static Result<SharedMemory> attach(UniqueFd fd);

  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  [[nodiscard]] std::span<std::byte> bytes() const { return {data_, size_}; }

  // Makes it at least so large for all who map it. Earlier spans are gone.
  Status grow(size_t bytes);

  // Maps what another process let it grow to. InvalidInput where that is less than `bytes`.
  Status follow(size_t bytes);

  [[nodiscard]] int descriptor() const { return fd_.get(); }

 private:
  explicit SharedMemory(UniqueFd fd) : fd_(std::move(fd)) {}

  Status map(size_t bytes);
  void unmap();

  UniqueFd fd_;
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace mynah
