// A caching pool of host memory: what backends that compute in host memory allocate from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tensor/buffer.h"

namespace mynah {

// Hands out 64-byte aligned blocks and keeps what comes back: small ones for the next request of
// about that size, large ones for any (HostArena). After warm-up a loop that asks for the same
// sizes allocates nothing from the system. Thread-safe.
class HostPool {
 public:
  HostPool();
  ~HostPool();  // every block must have come back
  HostPool(const HostPool&) = delete;
  HostPool& operator=(const HostPool&) = delete;

  // A buffer of at least `bytes` bytes, contents undefined. Throws DeviceError when the system has
  // no more.
  BufferRef allocate(size_t bytes);

  // Gives cached blocks back to the system.
  void trim();

  // Number of blocks asked from the system since the start.
  [[nodiscard]] int64_t system_allocations() const;
  // Bytes in use, and bytes held from the system (in use or cached).
  [[nodiscard]] size_t bytes_in_use() const;
  [[nodiscard]] size_t bytes_held() const;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

// A buffer over memory that something else owns and keeps alive through `owner`: a mapped file, a
// user's samples.
BufferRef wrap_host_memory(const void* data, size_t bytes, std::shared_ptr<const void> owner);

}  // namespace mynah
