// The operations as kernels: on cards, and on the simulation of one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backend/cuda/simt/launch_report.h"
#include "base/result.h"
#include "base/thread_pool.h"
#include "gpu/devices.h"
#include "tensor/backend.h"

namespace mynah {

struct SimtOptions {
  int level = 0;             // of simt_levels(); 0: the highest that cards use unasked
  uint64_t seed = 0;         // of the order of blocks and warps
  bool check_shared = true;  // every access to shared memory: slow
  // Not empty: hears of every launch and what it pays in traffic, which takes time.
  simt::LaunchObserver observer = {};
  int64_t sample_blocks = 0;  // not 0: of a large launch this many blocks run; results are wrong
};

// Backend::packed_layout() of cards and of their simulation.
[[nodiscard]] std::string cuda_packed_layout();

// The levels, compute capabilities times ten, that the kernels can be simulated at, least first.
[[nodiscard]] std::vector<int> simt_levels();

// The device simt:0: every kernel run on `pool`, which must outlive it, and watched: what a kernel
// does wrong is a DeviceError that names it.
[[nodiscard]] std::unique_ptr<Backend> make_simt_backend(ThreadPool& pool,
                                                         const SimtOptions& options = {});

struct CudaOptions {
  std::string image_folder;  // keeps what the driver makes of the kernels from run to run; empty:
                             // nothing is kept
  int level = 0;             // of cuda_levels(); 0: the highest that is used unasked
};

// The levels (docs/cuda.md) that this card can run kernels at, least first; none where it is too
// old.
[[nodiscard]] std::vector<int> cuda_levels(const gpu::GpuDevice& card);

// The device cuda:INDEX. Refused where the card or its driver is too old for mynah's programs,
// where the card has not the level that is asked for, or the driver fails.
[[nodiscard]] Result<std::unique_ptr<Backend>> make_cuda_backend(
    std::shared_ptr<const gpu::Driver> driver, const gpu::GpuDevice& card,
    const CudaOptions& options = {});

}  // namespace mynah
