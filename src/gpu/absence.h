// Why a card cannot be used: what the driver answered, and what the machine shows besides, with
// what to do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "gpu/driver_library.h"
#include "gpu/machine.h"
#include "gpu/visible_devices.h"

namespace mynah::gpu {

// Why there is no card, or none that can be used, and what to do.
struct Absence {
  std::string reason;  // a clause
  std::string remedy;  // an imperative; empty: nothing is known that helps
  ErrorCode code = ErrorCode::Environment;

  // "REASON; REMEDY".
  [[nodiscard]] Error error() const;

  bool operator==(const Absence&) const = default;
};

// The cards that CUDA_VISIBLE_DEVICES chooses from, as the system knows them.
[[nodiscard]] KnownCards known_cards(const Machine& machine);

// What is said where a library of the driver, of this release, and the driver in the kernel are not
// of one release.
[[nodiscard]] Absence explain_halves(const std::string& library, const std::string& release,
                                     const Machine& machine);

// Why there is no driver's library, with what the machine shows.
[[nodiscard]] Absence explain_no_driver(const NoDriver& no_driver, const Machine& machine);

// The same where nothing of a card is to be seen, without a look at the library; none where
// something is.
[[nodiscard]] std::optional<Absence> explain_no_sign(const Machine& machine);

// Why a card that the system has is not among the driver's devices.
[[nodiscard]] Absence explain_not_shown(const PciCard& card, const Machine& machine);

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
[[nodiscard]] Absence explain_no_device(const NoDevice& failure, const Machine& machine,
                                        const VisibleDevices& visible);

}  // namespace mynah::gpu
