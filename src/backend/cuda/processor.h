// Processor: what runs kernels and holds their memory: a card behind its driver, or the simulation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "backend/cuda/kernels/list.h"
#include "tensor/device.h"

namespace mynah::cuda {

// Blocks of a launch, along each axis.
struct GridSize {
  int64_t x = 1;
  int64_t y = 1;
  int64_t z = 1;

  bool operator==(const GridSize&) const = default;
};

// A kernel that runs.
struct Launch {
  KernelId kernel;
  GridSize grid;
  int threads = 0;          // a block, a multiple of 32
  size_t shared_bytes = 0;  // of dynamic shared memory
  const void* args = nullptr;
  size_t args_bytes = 0;
};

// Launches that a processor was told once, to be done again and again. Destroyed before it.
class LaunchGraph {
 public:
  LaunchGraph() = default;
  virtual ~LaunchGraph() = default;
  LaunchGraph(const LaunchGraph&) = delete;
  LaunchGraph& operator=(const LaunchGraph&) = delete;
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
  // Compute capability of the programs that run, times ten: 60, 61, 75 or 80.
  [[nodiscard]] virtual int level() const = 0;

  // Memory of at least `bytes` bytes, aligned to 256.
  virtual std::byte* allocate(size_t bytes) = 0;
  virtual void free(std::byte* memory) = 0;
  // Gives back to the system what was freed and is still held for this process.
  virtual void trim() = 0;
  // None where the device does not tell.
  [[nodiscard]] virtual std::optional<DeviceMemory> memory() = 0;

  virtual void upload(const void* source, std::byte* out, size_t bytes) = 0;
  // Waits until the bytes are there.
  virtual void download(const std::byte* x, void* destination, size_t bytes) = 0;

  // The arguments may go when the call is back.
  virtual void launch(const Launch& launch) = 0;

  // Keeps these launches, arguments and all, without doing them. Null where the device, or its
  // driver, does not take them so: they can still be done one by one.
  virtual std::unique_ptr<LaunchGraph> capture(std::span<const Launch> launches) = 0;
  // Does them, in their order. The memory that they were told must be there still.
  virtual void replay(const LaunchGraph& graph) = 0;

  virtual void synchronize() = 0;
};

}  // namespace mynah::cuda
