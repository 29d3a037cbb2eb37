// CountingProcessor: another processor, whose calls are counted and may be told to fail. Its
// callers may be several.
#pragma once

#include <memory>
#include <mutex>
#include <ostream>
#include <span>
#include <string>
#include <utility>

#include "backend/cuda/cuda_backend_class.h"
#include "backend/cuda/processor.h"
#include "backend/cuda/simt/simt_processor.h"
#include "base/thread_pool.h"
#include "tensor/device_error.h"

namespace mynah::cuda {

struct Calls {
  int allocations = 0;
  int uploads = 0;
  int downloads = 0;
  int launches = 0;  // one by one
  int captures = 0;
  int replays = 0;
  int graphs = 0;  // that are there

  bool operator==(const Calls&) const = default;
};

// For messages of tests.
inline void PrintTo(const Calls& calls, std::ostream* out) {
  *out << calls.allocations << " allocations, " << calls.uploads << " uploads, " << calls.downloads
       << " downloads, " << calls.launches << " launches, " << calls.captures << " captures, "
       << calls.replays << " replays, " << calls.graphs << " graphs";
}

class CountingProcessor final : public Processor {
 public:
  explicit CountingProcessor(std::unique_ptr<Processor> processor)
      : processor_(std::move(processor)) {}

  [[nodiscard]] Device device() const override { return processor_->device(); }

  [[nodiscard]] std::string description() const override { return processor_->description(); }

  [[nodiscard]] int level() const override { return processor_->level(); }

  std::byte* allocate(size_t bytes) override {
    count(calls_.allocations);
    return processor_->allocate(bytes);
  }

  void free(std::byte* memory) override { processor_->free(memory); }

  void trim() override { processor_->trim(); }

  [[nodiscard]] std::optional<DeviceMemory> memory() override { return processor_->memory(); }

  void upload(const void* source, std::byte* out, size_t bytes) override {
    count(calls_.uploads);
    processor_->upload(source, out, bytes);
  }

  void download(const std::byte* x, void* destination, size_t bytes) override {
    count(calls_.downloads);
    processor_->download(x, destination, bytes);
  }

  void launch(const Launch& launch) override {
    count(calls_.launches);
    processor_->launch(launch);
  }

  std::unique_ptr<LaunchGraph> capture(std::span<const Launch> launches) override {
    count(calls_.captures);
    return refuse_captures_ ? nullptr
                            : std::make_unique<Graph>(*this, processor_->capture(launches));
  }

  void replay(const LaunchGraph& graph) override {
    count(calls_.replays);
    if (std::exchange(fail_next_replay_, false)) {
      throw DeviceError({.code = ErrorCode::Device, .message = "a replay that fails"});
    }
    processor_->replay(dynamic_cast<const Graph&>(graph).graph());
  }

  void synchronize() override { processor_->synchronize(); }

  // Since the last time; the graphs that are there.
  Calls take_calls() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(calls_, Calls{.graphs = calls_.graphs});
  }

  // As a driver without graphs.
  void refuse_captures() { refuse_captures_ = true; }

  void fail_next_replay() { fail_next_replay_ = true; }

 private:
  class Graph final : public LaunchGraph {
   public:
    Graph(CountingProcessor& processor, std::unique_ptr<LaunchGraph> graph)
        : processor_(processor), graph_(std::move(graph)) {
      processor_.count(processor_.calls_.graphs);
    }

    ~Graph() override { processor_.count(processor_.calls_.graphs, -1); }

    [[nodiscard]] const LaunchGraph& graph() const { return *graph_; }

   private:
    CountingProcessor& processor_;
    std::unique_ptr<LaunchGraph> graph_;
  };

  void count(int& calls, int more = 1) {
    const std::scoped_lock lock(mutex_);
    calls += more;
  }

  std::unique_ptr<Processor> processor_;
  std::mutex mutex_;
  Calls calls_;
  bool refuse_captures_ = false;
  bool fail_next_replay_ = false;
};

// simt:0 whose processor counts.
struct CountedSimt {
  explicit CountedSimt(ThreadPool& pool) {
    const int level = simt::simt_processor_levels().back();
    auto counting = std::make_unique<CountingProcessor>(
        simt::make_simt_processor(pool, level, {.check_shared = false}));
    processor = counting.get();
    backend = std::make_unique<CudaBackend>(std::move(counting));
  }

  CountingProcessor* processor = nullptr;
  std::unique_ptr<Backend> backend;
};

}  // namespace mynah::cuda
