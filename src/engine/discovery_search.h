// Where this process looks for devices, by its environment.
#pragma once

#include <string>

#include "base/environment.h"
#include "gpu/devices.h"
#include "place/discovery/discover.h"

namespace mynah::engine {

// NVIDIA's driver and its cards: MYNAH_CUDA_DRIVER, CUDA_VISIBLE_DEVICES.
[[nodiscard]] gpu::GpuSearch card_search(const Environment& environment);

// The program whose processes device stages compute in, and that drivers are asked in: mynah, which
// is this one, or stands beside it (a test); "": there is none, and drivers are asked here.
[[nodiscard]] std::string worker_program(const Environment& environment);

// All devices, with what the driver told kept in the cache folder; also MYNAH_NVML.
[[nodiscard]] place::DiscoverySearch discovery_search(const Environment& environment);

// This program and no other: what was kept or proven by another is not believed.
[[nodiscard]] std::string program_build();

}  // namespace mynah::engine
