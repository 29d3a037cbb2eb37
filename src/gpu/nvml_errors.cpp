#include "gpu/nvml_errors.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace mynah::gpu {
namespace {

struct Row {
  NvmlResult result;
  std::string_view meaning;
  std::string_view remedy;
};

constexpr std::string_view kReinstall =
    "install NVIDIA's driver again, all of its packages in one version";
constexpr std::string_view kLog =
    "look into the kernel's log (`dmesg`) for lines with Xid, and reboot";

// NVIDIA's NVML API Reference, "nvmlReturn_t".
constexpr std::array kRows = {
    Row{NVML_ERROR_UNINITIALIZED, "NVML was not started", "start mynah again"},
    Row{NVML_ERROR_INVALID_ARGUMENT, "NVML does not take the question", "update NVIDIA's driver"},
    Row{NVML_ERROR_NOT_SUPPORTED, "the card or its driver does not tell this",
        "a newer driver may"},
    Row{NVML_ERROR_NO_PERMISSION, "this user may not ask the card",
        "look at the rights to /dev/nvidia*"},
    Row{NVML_ERROR_NOT_FOUND, "NVML does not know the card", "look at `nvidia-smi -L`"},
    Row{NVML_ERROR_INSUFFICIENT_SIZE, "the answer is longer than expected", "ask again"},
    Row{NVML_ERROR_INSUFFICIENT_POWER, "the card's power cables are not attached as they should be",
        "attach them; the card's manual says which it needs"},
    Row{NVML_ERROR_DRIVER_NOT_LOADED, "NVIDIA's driver is not in the kernel",
        "load it (`modprobe nvidia`), or reboot after its installation"},
    Row{NVML_ERROR_TIMEOUT, "the card did not answer in time", kLog},
    Row{NVML_ERROR_IRQ_ISSUE, "the kernel has trouble with the card's interrupts", kLog},
    Row{NVML_ERROR_LIBRARY_NOT_FOUND, "a library that NVML needs is missing", kReinstall},
    Row{NVML_ERROR_FUNCTION_NOT_FOUND, "this NVML is too old for the question",
        "update NVIDIA's driver"},
    Row{NVML_ERROR_CORRUPTED_INFOROM, "the card's information memory is damaged",
        "update the card's firmware, or have the card repaired"},
    Row{NVML_ERROR_GPU_IS_LOST, "the card has fallen off the bus",
        "reboot; if it comes back, look after its power, heat and seat in the slot"},
    Row{NVML_ERROR_RESET_REQUIRED, "the card needs a reset before it can be used again",
        "end what uses it and run `nvidia-smi -r` as root, or reboot"},
    Row{NVML_ERROR_OPERATING_SYSTEM, "the system or the container denies the card's nodes",
        "restart the container: a reload of systemd on the host takes its rights to devices away"},
    Row{NVML_ERROR_LIB_RM_VERSION_MISMATCH,
        "the driver's library and the driver in the kernel are of different releases",
        "reboot, as after every update of the driver; in a container, restart it"},
    Row{NVML_ERROR_IN_USE, "the card is in use", "ask again"},
    Row{NVML_ERROR_MEMORY, "there is too little memory for the question", "ask again"},
    Row{NVML_ERROR_UNKNOWN, "the driver does not say what went wrong", kLog},
};

}  // namespace

Absence explain_nvml(NvmlResult result, std::string_view attempted) {
  const auto* const row = std::ranges::find(kRows, result, &Row::result);
  const bool known = row != kRows.end();
  return {.reason = fmt::format("{}: {} (NVML error {})", attempted,
                                known ? row->meaning : "an error that mynah does not know",
                                static_cast<int>(result)),
          .remedy = std::string(known ? row->remedy : "look it up under nvmlReturn_t")};
}

bool is_failure_of_card(NvmlResult result) {
  switch (result) {
    case NVML_ERROR_INSUFFICIENT_POWER:
    case NVML_ERROR_IRQ_ISSUE:
    case NVML_ERROR_GPU_IS_LOST:
    case NVML_ERROR_RESET_REQUIRED:
      return true;
    default:
      return false;
  }
}

}  // namespace mynah::gpu
