#include "backend/cuda/simt/simt_processor.h"

#include <array>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "backend/cuda/programs/programs.h"
#include "backend/cuda/simt/kernel_table.h"
#include "base/check.h"
#include "tensor/device_error.h"

namespace mynah::simt {

namespace {

// Levels that this build has (cmake/kernels.cmake).
using Levels = std::integer_sequence<int, MYNAH_SIMT_LEVELS>;

template <int... Level>
constexpr std::array<int, sizeof...(Level)> numbers_of(std::integer_sequence<int, Level...>) {
  return {Level...};
}

constexpr auto kLevels = numbers_of(Levels());

template <int... Level>
const KernelTable& kernels_of(int level, std::integer_sequence<int, Level...>) {
  const KernelTable* found = nullptr;
  ((found = Level == level ? &kernel_table<Level>() : found), ...);
  MYNAH_CHECK(found != nullptr, "no kernels of level ", std::to_string(level));
  return *found;
}

// A copy of launches and of their arguments.
class SimtGraph final : public cuda::LaunchGraph {
 public:
  explicit SimtGraph(std::span<const cuda::Launch> launches)
      : launches_(launches.begin(), launches.end()) {
    for (cuda::Launch& launch : launches_) {
      const auto* const args = static_cast<const std::byte*>(launch.args);
      launch.args = arguments_.emplace_back(args, args + launch.args_bytes).data();
    }
  }

  [[nodiscard]] std::span<const cuda::Launch> launches() const { return launches_; }

 private:
  std::vector<cuda::Launch> launches_;
  std::vector<std::vector<std::byte>> arguments_;
};

// What a block of the smallest card of the level may have when the driver is asked for it (CUDA C++
// Programming Guide, "Technical Specifications per Compute Capability").
constexpr size_t shared_bytes_of(int level) {
  return static_cast<size_t>(level >= 90 ? 227 : level >= 80 ? 99 : level >= 75 ? 64 : 48) << 10;
}

SimulatorOptions at_level(int level, SimulatorOptions options) {
  options.shared_bytes = shared_bytes_of(level);
  return options;
}

class SimtProcessor final : public cuda::Processor {
 public:
  SimtProcessor(ThreadPool& pool, int level, const SimulatorOptions& options,
                LaunchObserver observer)
      : pool_(pool),
        level_(level),
        kernels_(kernels_of(level, Levels())),
        simulator_(pool, at_level(level, options)),
        observer_(std::move(observer)) {}

  [[nodiscard]] Device device() const override { return {DeviceKind::Simt, 0}; }

  [[nodiscard]] std::string description() const override {
    return fmt::format("simulated card of compute capability {}.{}, {} thread{}", level_ / 10,
                       level_ % 10, pool_.size(), pool_.size() == 1 ? "" : "s");
  }

  [[nodiscard]] int level() const override { return level_; }

  std::byte* allocate(size_t bytes) override {
    std::byte* const memory = simulator_.allocate(bytes);
    if (memory == nullptr) {
      throw DeviceError({.code = ErrorCode::OutOfMemory,
                         .message = fmt::format("simulated card: no {} bytes of memory", bytes)});
    }
    return memory;
  }

  void free(std::byte* memory) override { simulator_.free(memory); }

  void trim() override {}

  [[nodiscard]] std::optional<DeviceMemory> memory() override { return std::nullopt; }

  void upload(const void* source, std::byte* out, size_t bytes) override {
    std::memcpy(out, source, bytes);
  }

  void download(const std::byte* x, void* destination, size_t bytes) override {
    std::memcpy(destination, x, bytes);
  }

  void launch(const cuda::Launch& launch) override {
    MYNAH_CHECK(kernels_[static_cast<size_t>(launch.kernel)] != nullptr,
                "a kernel that this level has not: ", cuda::entry_of(launch.kernel));
    const HostKernel& kernel = *kernels_[static_cast<size_t>(launch.kernel)];
    MYNAH_CHECK(launch.args_bytes == kernel.argument_bytes, kernel.name,
                ": arguments of another kernel");
    constexpr int64_t kMostY = 65535;  // of a card's grid, along y and z
    const cuda::GridSize& grid = launch.grid;
    MYNAH_CHECK(grid.x <= std::numeric_limits<int>::max() && grid.y <= kMostY && grid.z <= kMostY,
                kernel.name, ": a grid that no card takes");
    const GridSize size{static_cast<int>(grid.x), static_cast<int>(grid.y),
                        static_cast<int>(grid.z)};
    Traffic traffic;
    if (Status status = simulator_.launch(kernel, size, launch.threads, launch.shared_bytes,
                                          launch.args, &traffic);
        !status) {
      throw DeviceError(std::move(status).error());
    }
    if (observer_) {
      observer_({.kernel = kernel.name,
                 .level = cuda::program_for(cuda::group_of(launch.kernel), level_)->level,
                 .blocks = size.blocks(),
                 .threads = launch.threads,
                 .dynamic_bytes = launch.shared_bytes,
                 .traffic = traffic});
    }
  }

  std::unique_ptr<cuda::LaunchGraph> capture(std::span<const cuda::Launch> launches) override {
    return std::make_unique<SimtGraph>(launches);
  }

  void replay(const cuda::LaunchGraph& graph) override {
    for (const cuda::Launch& launch : dynamic_cast<const SimtGraph&>(graph).launches()) {
      this->launch(launch);
    }
  }

  void synchronize() override {}

 private:
  ThreadPool& pool_;
  int level_;
  const KernelTable& kernels_;
  Simulator simulator_;
  LaunchObserver observer_;
};

}  // namespace

std::span<const int> simt_processor_levels() {
  return kLevels;
}

const HostKernel* simulated_kernel(cuda::KernelId kernel, int level) {
  return kernels_of(level, Levels())[static_cast<size_t>(kernel)];
}

std::unique_ptr<cuda::Processor> make_simt_processor(ThreadPool& pool, int level,
                                                     const SimulatorOptions& options,
                                                     LaunchObserver observer) {
  return std::make_unique<SimtProcessor>(pool, level, options, std::move(observer));
}

}  // namespace mynah::simt
