// DevicePool: the caching pool of a device's memory that tensors are allocated from.
#pragma once

#include <cstddef>
#include <memory>

#include "backend/cuda/processor.h"
#include "tensor/buffer.h"

namespace mynah::cuda {

// Keeps what comes back for the next request of about its size: after warm-up a loop that asks for
// the same sizes allocates nothing from the device, and finds them at the same addresses. The
// device does all work in the order that it was asked for, so that memory may be handed out again
// while a kernel that used it still runs. Thread-safe.
class DevicePool {
 public:
  explicit DevicePool(Processor& processor);
  ~DevicePool();  // every block must have come back
  DevicePool(const DevicePool&) = delete;
  DevicePool& operator=(const DevicePool&) = delete;

  // A buffer of at least `bytes` bytes, aligned to 256, contents undefined. Throws DeviceError when
  // the device has no more, after what lies idle was given back.
  BufferRef allocate(size_t bytes);

  // Gives idle blocks back to the device where they are more than `most_idle` bytes.
  void trim(size_t most_idle);

  // Bytes held from the device, in use or idle.
  [[nodiscard]] size_t bytes_held() const;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace mynah::cuda
