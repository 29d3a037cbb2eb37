// Which GPUs this process can use, asked of the driver without making a context, or in one line why
// there is none.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "gpu/absence.h"
#include "gpu/driver_library.h"

namespace mynah::gpu {

// One device as the driver shows it: a card, or a slice of one.
struct GpuDevice {
  CUdevice handle = 0;
  int index = 0;  // cuda:INDEX
  std::string name;
  std::string uuid;  // "GPU-8932f937-...", "MIG-..."; the same whatever CUDA_VISIBLE_DEVICES says
  std::string pci_bus_id;  // "0000:01:00.0"
  int compute_major = 0;   // compute capability
  int compute_minor = 0;
  int multiprocessors = 0;
  uint64_t memory_bytes = 0;
  int shared_bytes_per_block = 0;  // most that a launch can ask for, opted in
  int shared_bytes_per_multiprocessor = 0;
  int l2_bytes = 0;
  int memory_clock_khz = 0;
  int memory_bus_bits = 0;
  bool integrated = false;      // shares the host's memory
  bool mig = false;             // a slice of a card (Multi-Instance GPU)
  bool memory_pools = false;    // stream-ordered memory works on it
  bool launch_timeout = false;  // a display's watchdog ends long kernels
  CUcomputemode compute_mode = CU_COMPUTEMODE_DEFAULT;

  // Bytes a second at best: two transfers a clock over the whole bus (CUDA C++ Best Practices
  // Guide, "Theoretical Bandwidth Calculation"). Of a MIG slice that of the whole card. 0: not
  // known.
  [[nodiscard]] double theoretical_bandwidth() const;

  bool operator==(const GpuDevice&) const = default;
};

// Initialises the driver (cuInit) and lists its devices; none is an empty list. Makes no context.
[[nodiscard]] Result<std::vector<GpuDevice>> list_devices(const Driver& driver);

// Where to look; the environment is read by cli/ and handed down.
struct GpuSearch {
  DriverSearch driver;
  std::optional<std::string> visible_devices;  // CUDA_VISIBLE_DEVICES
  std::string root;                            // see read_machine
};

struct Gpus {
  std::shared_ptr<const Driver> driver;
  std::vector<GpuDevice> devices;  // at least one
  std::string hidden;              // why there are not more, in a clause; mostly empty
};

// The driver and its devices, or why no card can be used and what to do.
[[nodiscard]] std::expected<Gpus, Absence> look_for_gpus(const GpuSearch& search);

// The same; the error is one line.
[[nodiscard]] Result<Gpus> find_gpus(const GpuSearch& search);

}  // namespace mynah::gpu
