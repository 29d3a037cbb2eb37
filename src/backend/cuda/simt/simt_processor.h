// SimtProcessor: the device simt:0, every kernel of the cards' run on this machine.
#pragma once

#include <memory>
#include <span>

#include "backend/cuda/processor.h"
#include "backend/cuda/simt/launch_report.h"
#include "backend/cuda/simt/simulator.h"
#include "base/thread_pool.h"

namespace mynah::simt {

// Levels of compute capability, times ten, that the kernels are compiled for here, least first.
[[nodiscard]] std::span<const int> simt_processor_levels();

// A kernel of that level as this machine runs it; null where the level has none.
[[nodiscard]] const HostKernel* simulated_kernel(cuda::KernelId kernel, int level);

// `level` is one of those. `observer`, where it is not empty, hears of every launch.
std::unique_ptr<cuda::Processor> make_simt_processor(ThreadPool& pool, int level,
                                                     const SimulatorOptions& options,
                                                     LaunchObserver observer = {});

}  // namespace mynah::simt
