#include "backend/cuda/graph_step_runner.h"

#include <algorithm>
#include <utility>

#include "backend/cuda/cuda_backend_class.h"
#include "base/check.h"

namespace mynah::cuda {

namespace {

// Steps that are remembered: of a batch that shrinks from sixteen sequences to one, each with four
// lengths of keys.
constexpr size_t kMostSteps = 64;

}  // namespace

struct GraphStepRunner::Worker {
  // A step that was done before.
  struct KnownStep {
    Recording recording;
    std::unique_ptr<LaunchGraph> graph;
    bool refused = false;  // no graph could be made of it
  };

  explicit Worker(CudaBackend& backend)
      : record{.backend = &backend, .memory = StepMemory(backend.pool()), .recording = {}} {}

  StepRecord record;
  std::vector<KnownStep> known;  // the latest last

  // Does what is written down.
  void launch(Processor& processor);
};

void GraphStepRunner::Worker::launch(Processor& processor) {
  const auto found =
      std::ranges::find(known.rbegin(), known.rend(), record.recording, &KnownStep::recording);
  if (found == known.rend()) {
    // As if there were no graphs: kernels are loaded, which a capture could not.
    for (const Launch& launch : record.recording.launches()) {
      processor.launch(launch);
    }
    if (known.size() == kMostSteps) {
      known.erase(known.begin());
    }
    known.push_back({.recording = record.recording, .graph = nullptr});
    return;
  }
  std::rotate(found.base() - 1, found.base(), known.end());
  KnownStep& step = known.back();
  if (step.graph == nullptr && !step.refused) {
    step.graph = processor.capture(step.recording.launches());
    step.refused = step.graph == nullptr;
  }
  if (step.graph != nullptr) {
    processor.replay(*step.graph);
    return;
  }
  for (const Launch& launch : step.recording.launches()) {
    processor.launch(launch);
  }
}

GraphStepRunner::GraphStepRunner(CudaBackend& backend) : backend_(backend) {}

GraphStepRunner::~GraphStepRunner() = default;

std::unique_ptr<GraphStepRunner::Worker> GraphStepRunner::take() {
  const std::scoped_lock lock(mutex_);
  if (idle_.empty()) {
    return std::make_unique<Worker>(backend_);
  }
  std::unique_ptr<Worker> worker = std::move(idle_.back());
  idle_.pop_back();
  return worker;
}

void GraphStepRunner::give_back(std::unique_ptr<Worker> worker) {
  const std::scoped_lock lock(mutex_);
  idle_.push_back(std::move(worker));
}

void GraphStepRunner::run(FunctionRef<void(const BufferRef& memory)> fn,
                          std::span<std::byte> result) {
  Processor& processor = backend_.processor();
  // Of one whose step failed nothing is used again.
  std::unique_ptr<Worker> worker = take();
  StepRecord& record = worker->record;
  record.recording.clear();
  record.memory.begin(processor, result.size());
  backend_.record(record, fn);
  MYNAH_CHECK(!record.memory.in_use(), "a tensor outlives the step that made it");
  record.memory.upload(processor);
  worker->launch(processor);
  backend_.count_launches(record.recording.count());
  backend_.check_row_number(record.memory.download(processor, result));
  give_back(std::move(worker));
}

}  // namespace mynah::cuda
