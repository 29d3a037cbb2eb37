// NVML, NVIDIA's management library, opened at run time: what cards have free now, who uses them,
// and which are divided. It makes no context, so that asking takes no memory of a card.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/shared_library.h"
#include "gpu/driver_places.h"
#include "gpu/nvml_api.h"

namespace mynah::gpu {

struct NvmlSearch {
  // A file to open instead of looking for one; MYNAH_NVML, read by cli/.
  std::string file;
  // Where to look otherwise: a name without a slash is left to the system's loader.
  std::vector<std::string> places = usual_places("libnvidia-ml.so.1");
};

// In bytes.
struct NvmlMemory {
  uint64_t total = 0;
  uint64_t free = 0;
  uint64_t used = 0;  // with what the driver keeps for itself

  bool operator==(const NvmlMemory&) const = default;
};

// A process with a context on a card.
struct NvmlProcess {
  int pid = 0;
  std::optional<uint64_t> bytes;  // none: not told, as under WSL2
};

// A slice of a card that is divided (Multi-Instance GPU).
struct NvmlSlice {
  std::string uuid;  // "MIG-..."
  std::optional<NvmlMemory> memory;
};

// A card as NVML shows it, whatever CUDA_VISIBLE_DEVICES says. What it does not tell is empty.
struct NvmlCard {
  std::string pci_bus_id;  // "0000:01:00.0"
  std::string uuid;        // "GPU-..."
  std::string name;
  NvmlResult failure = NVML_SUCCESS;  // why the card does not answer; nothing else is known then
  std::optional<NvmlMemory> memory;
  int compute_major = 0;  // compute capability; 0: not told
  int compute_minor = 0;
  std::optional<CUcomputemode> compute_mode;
  std::optional<bool> divided;  // Multi-Instance GPU is on; none: the card does not have it
  std::vector<NvmlSlice> slices;
  std::vector<NvmlProcess> processes;
};

struct NvmlFacts {
  std::string driver_release;  // "550.54.14", of the library; empty: not told
  int cuda_version = 0;        // as cuDriverGetVersion counts; 0: not told
  std::vector<NvmlCard> cards;
};

// The library, initialised as long as this lives. Not for several threads at once.
class Nvml {
 public:
  // Environment, in one line: it is not installed, it cannot be loaded, or it does not start. Most
  // frequent is a driver that was updated without a reboot since.
  [[nodiscard]] static Result<std::unique_ptr<Nvml>> open(const NvmlSearch& search = {});

  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // Asks the cards at these PCI addresses and wakes no other one; those that NVML does not have are
  // left out. No addresses: all cards. What a driver is too old to tell stays empty.
  [[nodiscard]] Result<NvmlFacts> read(std::span<const std::string> addresses = {}) const;

 private:
  explicit Nvml(const NvmlApi& api) : api_(api) {}

  NvmlApi api_;
};

}  // namespace mynah::gpu
