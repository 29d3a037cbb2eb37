// Processor: what runs kernels and holds their memory: a card behind its driver, or the simulation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "backend/cuda/kernels/list.h"
#include "tensor/device.h"

namespace mynah::cuda {

// Blocks of a launch, along each axis.
struct GridSize {
  int64_t x = 1;
  int64_t y = 1;
  int64_t z = 1;
};

// Everything is done in the order that it was asked for. Calls throw DeviceError where the device
// fails.
class Processor {
 public:
  Processor() = default;
  virtual ~Processor() = default;
  Processor(const Processor&) = delete;
  Processor& operator=(const Processor&) = delete;

  [[nodiscard]] virtual Device device() const = 0;
  [[nodiscard]] virtual std::string description() const = 0;
  // Compute capability of the programs that run, times ten: 60 or 61.
  [[nodiscard]] virtual int level() const = 0;

  // At least `bytes` bytes, aligned to 256.
  virtual std::byte* allocate(size_t bytes) = 0;
  virtual void free(std::byte* memory) = 0;
  // Gives back to the system what was freed and is still held for this process.
  virtual void trim() = 0;

  virtual void upload(const void* source, std::byte* out, size_t bytes) = 0;
  // Waits until the bytes are there.
  virtual void download(const std::byte* x, void* destination, size_t bytes) = 0;

  // `threads` a block, a multiple of 32; `shared_bytes` of dynamic shared memory.
  virtual void launch(KernelId kernel, const GridSize& grid, int threads, size_t shared_bytes,
                      const void* args, size_t args_bytes) = 0;
  virtual void synchronize() = 0;
};

}  // namespace mynah::cuda
