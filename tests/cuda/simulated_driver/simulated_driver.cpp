// libmynah_simulated_cuda.so: a driver as a file, for whole programs and those that they start. The
// fake driver, the simulation that runs mynah's kernels, and nothing to set up but the environment
// (gpu/fake_driver/steering.h), which is read when the library is opened:
// MYNAH_CUDA_DRIVER=.../libmynah_simulated_cuda.so mynah transcribe --device cuda ...
#include <array>
#include <cstdlib>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "backend/cuda/simt/kernel_table.h"
#include "backend/cuda/simt/simulator.h"
#include "base/thread_pool.h"
#include "gpu/fake_driver/memory_ledger.h"
#include "gpu/fake_driver/steering.h"

namespace mynah::test {
namespace {

using gpu::fake::FakeCard;
using gpu::fake::FakeCuda;
using gpu::fake::FakeLaunch;
using gpu::fake::Steering;

// Those that this build has (cmake/kernels.cmake), least first.
using Levels = std::integer_sequence<int, MYNAH_SIMT_LEVELS>;

constexpr int kLeastLevel = std::array{MYNAH_SIMT_LEVELS}.front();
// mynah has programs for these cards and later ones; an older one it refuses by itself.
constexpr int kOldestCard = 60;

// At the level of the PTX that the kernel was launched from, or the least above it: the kernels of
// a build's lowest level stand for those below. Null: this build has none.
template <int... Level>
const simt::HostKernel* kernel_of(size_t kernel, int target, std::integer_sequence<int, Level...>) {
  const simt::HostKernel* found = nullptr;
  static_cast<void>((
      (found = Level >= target ? simt::kernel_table<Level>()[kernel] : nullptr, found != nullptr) ||
      ...));
  return found;
}

// A kernel that goes wrong is mynah's mistake, or this library's, and no failure on command.
[[noreturn]] void give_up(const std::string& why) {
  fmt::print(stderr, "simulated driver: {}\n", why);
  std::abort();
}

class Simulation {
 public:
  void run(size_t id, const FakeLaunch& launch) {
    const simt::HostKernel* const kernel = kernel_of(id, launch.target, Levels());
    if (kernel == nullptr) {
      give_up(fmt::format("{}: this build simulates no level from {} on", launch.kernel,
                          launch.target));
    }
    if (launch.parameters.at(0).size() != kernel->argument_bytes) {
      give_up(launch.kernel + ": arguments of another size");
    }
    const simt::GridSize grid{static_cast<int>(launch.grid[0]), static_cast<int>(launch.grid[1]),
                              static_cast<int>(launch.grid[2])};
    const Status status =
        simulator_.launch(*kernel, grid, static_cast<int>(launch.block[0]),
                          launch.dynamic_shared_bytes, launch.parameters.at(0).data());
    if (!status) {
      give_up(status.error().message);
    }
  }

 private:
  // The driver runs one kernel after another, and processes with a card are many: no threads.
  ThreadPool pool_{1};
  // Programs of Hopper cards ask for as much shared memory; the driver looks at what others ask.
  simt::Simulator simulator_{
      pool_, {.check_shared = false, .foreign_memory = true, .shared_bytes = 227 << 10}};
};

constexpr auto kKernels = std::to_array<const char*>({
#define MYNAH_ENTRY(group, kernel_name, Args) "mynah_" #kernel_name,
    MYNAH_ALL_KERNELS(MYNAH_ENTRY)
#undef MYNAH_ENTRY
});

Result<Steering> steering_of_environment() {
  MYNAH_TRY(Steering steering,
            gpu::fake::read_steering([](const char* name) { return std::getenv(name); }));
  for (const FakeCard& card : steering.machine.cards) {
    const int capability = 10 * card.compute_major + card.compute_minor;
    if (capability >= kOldestCard && capability < kLeastLevel) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("MYNAH_FAKE_CARDS: cc={}.{}: this build simulates levels from {} on",
                              card.compute_major, card.compute_minor, kLeastLevel));
    }
  }
  if (!steering.machine.memory_file.empty()) {
    const Status status = gpu::fake::MemoryLedger(steering.machine.memory_file).check();
    if (!status) {
      return std::unexpected(Error(status.error()).while_doing("MYNAH_FAKE_MEMORY_FILE"));
    }
  }
  return steering;
}

// Says at the process's end how the driver was misused, if it was: nobody else asks.
struct Misuse {
  ~Misuse() {
    for (const std::string& problem : mynah_fake_cuda()->take_problems()) {
      fmt::print(stderr, "simulated driver: misuse: {}\n", problem);
    }
  }
};

void open_driver() {
  static Simulation simulation;
  FakeCuda& driver = *mynah_fake_cuda();
  static const Misuse misuse;
  auto steering = steering_of_environment();
  if (!steering) {
    fmt::print(stderr, "simulated driver: {}\n", steering.error().message);
    driver.reset({.start = gpu::CUDA_ERROR_INVALID_VALUE});
    return;
  }
  steering->machine.keeps_calls = false;
  driver.reset(steering->machine);
  for (const auto& failure : steering->failures) {
    driver.fail(failure);
  }
  for (size_t id = 0; id < kKernels.size(); ++id) {
    driver.on_launch(kKernels[id], [id](const FakeLaunch& launch) { simulation.run(id, launch); });
  }
}

[[gnu::constructor]] void opened() {
  open_driver();
}

}  // namespace
}  // namespace mynah::test
