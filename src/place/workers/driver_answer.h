// DriverAnswer: what asking NVIDIA's driver for its cards gave.
#pragma once

#include <string>
#include <vector>

#include "gpu/devices.h"

namespace mynah::place {

// The driver and its devices. What changes by itself, such as free memory, is none of it.
struct DriverAnswer {
  int version = 0;      // as cuDriverGetVersion counts: 12040 for CUDA 12.4
  std::string release;  // "550.54.14"; empty: the library's name does not tell
  std::string path;     // of the library, links resolved
  std::vector<gpu::GpuDevice> devices;

  bool operator==(const DriverAnswer&) const = default;
};

// Whether it can be what a driver says (place/wire/possible.h).
[[nodiscard]] bool is_possible(const DriverAnswer& answer);

}  // namespace mynah::place
