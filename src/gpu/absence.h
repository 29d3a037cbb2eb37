// Why no card can be used, in one line: what the driver answered, and what the machine shows
// besides.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "gpu/driver_library.h"
#include "gpu/machine.h"
#include "gpu/visible_devices.h"

namespace mynah::gpu {

// The cards that CUDA_VISIBLE_DEVICES chooses from, as the system knows them.
[[nodiscard]] KnownCards known_cards(const Machine& machine);

// Why there is no driver's library, with what the machine shows.
[[nodiscard]] Error explain_no_driver(const NoDriver& no_driver, const Machine& machine);

// Which of the machine's cards are not among the devices at these PCI addresses, and why, in a
// clause; empty where none is left out, or in a container, which sees cards that it was not given.
[[nodiscard]] std::string explain_left_out(const Machine& machine,
                                           const std::vector<std::string>& shown);

// A driver that was opened but shows no device.
struct NoDevice {
  CUresult result = CUDA_SUCCESS;  // of cuInit; success: it counts no device
  int driver_version = 0;          // Driver::version()
  std::string driver_release;      // Driver::release()
  std::string driver_path;
};

// Why it shows none, the likeliest reason first.
[[nodiscard]] Error explain_no_device(const NoDevice& failure, const Machine& machine,
                                      const VisibleDevices& visible);

}  // namespace mynah::gpu
