// The other side of the fake NVML: what a test sets up and asks, while the code under test calls
// the library's functions as it would call NVIDIA's. LoadedNvml (loaded_nvml.h) is the way in.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gpu/nvml_api.h"

namespace mynah::gpu::fake {

struct FakeNvmlProcess {
  unsigned pid = 0;
  unsigned long long bytes = 0;
};

struct FakeNvmlSlice {
  std::string uuid = "MIG-1";
  NvmlMemoryInfo memory{.total = 18ULL << 30, .free = 17ULL << 30, .used = 1ULL << 30};
};

struct FakeNvmlCard {
  unsigned bus = 1;  // 0000:BUS:00.0
  std::string name = "Fake RTX";
  std::string uuid = "GPU-10101010-1010-1010-1010-101010101010";
  NvmlMemoryInfo memory{.total = 8ULL << 30, .free = 7ULL << 30, .used = 1ULL << 30};
  CUcomputemode compute_mode = CU_COMPUTEMODE_DEFAULT;
  std::optional<bool> divided{};  // none: the card does not have slices
  std::vector<FakeNvmlSlice> slices{};
  std::vector<FakeNvmlProcess> processes{};
  NvmlResult failure = NVML_SUCCESS;  // of every question about it
};

struct FakeNvml {
  std::string release = "550.54.14";
  int cuda_version = 12040;
  std::vector<FakeNvmlCard> cards = {FakeNvmlCard{}};
  std::map<std::string, NvmlResult> failures;  // by the function's name
  // What happened since the last reset().
  int initialised = 0;  // nvmlInit_v2 less nvmlShutdown
  std::vector<std::string> calls;
  std::vector<std::string> woken;  // addresses of cards whose handle was asked for

  void reset() { *this = FakeNvml(); }
};

}  // namespace mynah::gpu::fake

// The one of the library that dlsym asked.
extern "C" mynah::gpu::fake::FakeNvml* mynah_fake_nvml();
