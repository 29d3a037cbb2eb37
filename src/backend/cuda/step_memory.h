// StepMemory: the card's memory that a loop's steps work in, the same from step to step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backend/cuda/device_pool.h"
#include "backend/cuda/processor.h"
#include "tensor/buffer.h"

namespace mynah::cuda {

// A step that asks for the same sizes in the same order is given the same addresses: kernels that
// were told them once can be run again. One thread at a time; what it hands out is gone before the
// next step begins.
class StepMemory {
 public:
  explicit StepMemory(DevicePool& pool);
  ~StepMemory();
  StepMemory(const StepMemory&) = delete;
  StepMemory& operator=(const StepMemory&) = delete;

  // A step begins whose host wants `result_bytes` back.
  void begin(Processor& processor, size_t result_bytes);

  // Contents undefined; taken again as soon as nobody holds it.
  BufferRef allocate(size_t bytes);
  // Memory that will have these values of the host once upload() was called.
  BufferRef input(std::span<const std::byte> values);
  // What the host will be given.
  BufferRef result();
  // Where kernels leave the number of a row that is not there (kernels/row_faults.h).
  [[nodiscard]] uint64_t* row_fault() const;

  // All that was handed out is there still, if anything is.
  [[nodiscard]] bool in_use() const;

  // All inputs in one copy.
  void upload(Processor& processor);
  // The result in one copy, and what row_fault() points to, which it answers.
  uint64_t download(Processor& processor, std::span<std::byte> result);

 private:
  class Block;
  class View;

  // Inputs of a step, side by side.
  struct Packed {
    BufferRef device;
    std::vector<std::byte> host;
  };

  BufferRef view(std::byte* data, size_t bytes);
  void add_packed(size_t bytes);

  DevicePool& pool_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<std::unique_ptr<View>> views_;
  size_t views_taken_ = 0;
  std::vector<Packed> packed_;  // one, but in a step whose inputs have outgrown it
  BufferRef result_;            // the fault's number, then the result
  std::vector<std::byte> downloaded_;
};

}  // namespace mynah::cuda
