// GraphStepRunner: steps written down, and done at once where they were done before.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "backend/cuda/recording.h"
#include "backend/cuda/step_memory.h"
#include "tensor/step_runner.h"

namespace mynah::cuda {

class CudaBackend;

// What a step's operations write to while they only write down.
struct StepRecord {
  const CudaBackend* backend = nullptr;  // whose operations they are
  StepMemory memory;
  Recording recording;
};

// Every step is written down first: its launches, and the values of the host that its kernels read,
// which go to the card in one copy. A step whose launches are those of an earlier one, down to each
// argument, is that one: the second time it is captured as a graph, which is then run instead of
// them. So what a graph was captured with can never differ from what is wanted: another batch,
// another number of segments of keys, memory that moved are other steps. Where there are no graphs
// the launches are done one by one, with the same bits.
class GraphStepRunner final : public StepRunner {
 public:
  explicit GraphStepRunner(CudaBackend& backend);
  ~GraphStepRunner() override;

  void run(FunctionRef<void(const BufferRef& memory)> fn, std::span<std::byte> result) override;

 private:
  // What one caller at a time works with.
  struct Worker;

  std::unique_ptr<Worker> take();
  void give_back(std::unique_ptr<Worker> worker);

  CudaBackend& backend_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> idle_;
};

}  // namespace mynah::cuda
