#include "cuda/simulated_card.h"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "backend/cuda/cuda_backend.h"
#include "backend/cuda/programs/programs.h"
#include "backend/cuda/simt/simt_processor.h"

namespace mynah::test {

using gpu::fake::FakeCard;
using gpu::fake::FakeLaunch;
using gpu::fake::FakeMachine;

SimulatedCard::SimulatedCard(int version, const FakeMachine& machine)
    // The oldest cards' programs ask for 48 KB, later ones for what their cards have.
    : simulator_(pool_, {.check_shared = false, .foreign_memory = true, .shared_bytes = 227 << 10}),
      fake_(version, machine) {
  const FakeCard& first = machine.cards.front();
  // Of a card that is too old for all programs nothing will be launched.
  if (const int level = cuda::level_for(first.compute_major * 10 + first.compute_minor);
      has_level(level)) {
    run_at(level);
  }
}

SimulatedCard::~SimulatedCard() = default;

bool SimulatedCard::has_level(int level) {
  const std::vector<int> levels = simt_levels();
  return std::ranges::find(levels, level) != levels.end();
}

void SimulatedCard::run_at(int level) {
  for (size_t i = 0; i < cuda::kKernelCount; ++i) {
    const auto id = static_cast<cuda::KernelId>(i);
    const simt::HostKernel* const kernel = simt::simulated_kernel(id, level);
    if (kernel == nullptr) {
      continue;
    }
    fake_->on_launch(std::string(cuda::entry_of(id)), [this, kernel](const FakeLaunch& launch) {
      const simt::GridSize grid{static_cast<int>(launch.grid[0]), static_cast<int>(launch.grid[1]),
                                static_cast<int>(launch.grid[2])};
      if (launch.parameters.at(0).size() != kernel->argument_bytes) {
        throw std::logic_error(std::string(kernel->name) + ": arguments of another size");
      }
      const Status status =
          simulator_.launch(*kernel, grid, static_cast<int>(launch.block[0]),
                            launch.dynamic_shared_bytes, launch.parameters.at(0).data());
      if (!status) {
        throw std::logic_error(status.error().message);
      }
    });
  }
}

Result<std::unique_ptr<Backend>> SimulatedCard::open(int index, const std::string& images,
                                                     int level) {
  auto driver = fake_.driver();
  MYNAH_TRY(const auto cards, gpu::list_devices(*driver));
  return make_cuda_backend(std::move(driver), cards.at(static_cast<size_t>(index)),
                           {.image_folder = images, .level = level});
}

}  // namespace mynah::test
