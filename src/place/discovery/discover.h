// What there is to compute on, and what keeps the rest from it: asked of the system, of NVIDIA's
// driver and of NVML, without making a context and without waking a card more than is needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gpu/absence.h"
#include "gpu/devices.h"
#include "gpu/nvml.h"

namespace mynah::place {

struct CpuFacts {
  int cores = 0;                // usable_cores()
  std::string instruction_set;  // the best that the cpu backend would take: "avx512_vnni"
};

// A card, or a slice of one.
struct CardFacts {
  // Of a card that the driver does not show: its address, and what NVML and the kernel's driver
  // know. The compute mode is as of now. The handle is no device's, since the driver may not have
  // been started: find_gpus() gives those to compute on.
  gpu::GpuDevice device;
  int driver_version = 0;      // as cuDriverGetVersion counts: 12040 for CUDA 12.4; 0: not known
  std::string driver_release;  // of the library: "550.54.14"; empty: not known
  std::string driver_path;
  std::string kernel_release;  // of the driver in the kernel; empty: not known
  bool wsl = false;            // Windows Subsystem for Linux, version 2
  bool container = false;
  bool asleep = false;  // powered down; nothing was asked of it that would wake it
  std::optional<bool>
      divided;        // into slices (Multi-Instance GPU); none: not known, or it cannot be
  size_t slices = 0;  // of a divided card
  gpu::NvmlResult failure = gpu::NVML_SUCCESS;  // what NVML answers of a card that it cannot ask
  std::vector<gpu::NvmlProcess> processes;      // that have a context on it now
};

struct DeviceFacts {
  std::string name{};   // as --device takes it: "cpu", "cuda:0"; empty: a card that nothing can use
  std::string model{};  // "AMD EPYC 9R14", "NVIDIA H200"; empty: not known
  std::optional<uint64_t> memory_total{};  // in bytes; none: not known, or no memory of its own
  std::optional<uint64_t> memory_free{};
  std::optional<CpuFacts> cpu{};
  std::optional<CardFacts> card{};
  std::optional<gpu::Absence>
      absence{};  // why it cannot be used, where the driver does not show it

  // "cuda:0"; of a card without a name its address; "cuda" where no card is known at all.
  [[nodiscard]] std::string label() const;
};

// Where to look; the environment is read by cli/ and handed down.
struct DiscoverySearch {
  gpu::GpuSearch gpus;  // its root is also that of processor and memory
  gpu::NvmlSearch nvml;
  // Variables that decide which driver is opened and how it counts its cards, "NAME=VALUE" each on
  // a line: what was kept under others does not hold.
  std::string variables;
  std::string cache_file;  // keeps what starting the driver told; empty: nothing is kept
  std::string build;       // of this program: another one's cache is not believed
  // Mynah itself, of which another process asks the driver; empty: this one does.
  std::string worker_program;
};

struct Discovery {
  // The processor, the driver's devices, cards that cannot be used (or one entry that says why
  // there is none), and the devices that are there to check against.
  std::vector<DeviceFacts> devices;
  std::string no_memory_known;  // why free memory of cards is not known, in a line; mostly empty
  bool cached = false;          // the driver was not started
};

// Never fails: what cannot be asked is not known, and says why.
[[nodiscard]] Discovery discover(const DiscoverySearch& search);

// A card's memory, or that of a slice of one.
struct CardMemory {
  std::string device;  // "cuda:0"
  gpu::NvmlMemory memory;
  std::vector<gpu::NvmlProcess> processes;  // that have a context on the card
};

// What the cards that were found have free now: NVML is asked as by discover(), the driver is not.
// Cards that sleep, or of which it is not told, are left out.
[[nodiscard]] std::vector<CardMemory> ask_memory(const DiscoverySearch& search,
                                                 const Discovery& found);

}  // namespace mynah::place
