// What the system tells about NVIDIA cards without the driver's library: PCI, the driver in the
// kernel, the nodes in /dev. Cheap to read, wakes no card, and the reason behind most failures of
// cuInit.
#pragma once

#include <string>
#include <vector>

namespace mynah::gpu {

// Whether this process could open a node of /dev.
enum class NodeState {
  Missing,
  Usable,
  NoPermission,  // EACCES: the file's owner, group and mode
  Denied,        // EPERM: rules of a container (device control group)
  Failed,        // anything else
};

// Asks for the right to read and write a node without opening it: an open would wake a sleeping
// card.
[[nodiscard]] NodeState node_state(const std::string& path);

// A display or compute function of vendor 10de.
struct PciCard {
  std::string address;  // "0000:01:00.0"
  std::string driver;   // of the kernel: "nvidia", "nouveau", "vfio-pci"; empty: none
  bool asleep = false;  // powered down by the kernel until something opens it
};

// A card that NVIDIA's driver in the kernel runs.
struct KernelCard {
  std::string address;
  std::string model;
  std::string uuid;  // "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"
};

struct CardNode {
  std::string path;  // "/dev/nvidia0"
  NodeState state = NodeState::Missing;
};

struct Machine {
  std::vector<PciCard> pci_cards;
  std::vector<KernelCard> kernel_cards;
  std::string kernel_driver;  // "550.54.14"; empty: NVIDIA's driver is not loaded
  bool open_kernel_module = false;
  NodeState control_node = NodeState::Missing;  // /dev/nvidiactl
  NodeState uvm_node = NodeState::Missing;      // /dev/nvidia-uvm
  std::vector<CardNode> card_nodes;             // /dev/nvidia0 ...
  // Compute instances of cards that are divided, "gpu0/mig/gi1/ci0": NVIDIA's MIG User Guide,
  // "Device Nodes and Capabilities".
  std::vector<std::string> mig_instances;
  bool wsl = false;                         // Windows Subsystem for Linux, version 2
  NodeState wsl_node = NodeState::Missing;  // /dev/dxg
  bool tegra = false;  // NVIDIA's systems on a chip, whose cards are not on PCI
  bool container = false;

  // Whether anything of a card or of its driver is to be seen. Where nothing is, the driver's
  // library could find none either.
  [[nodiscard]] bool shows_card() const;
};

// Reads /sys/bus/pci, /sys/module/nvidia, /proc/driver/nvidia and /dev below `root`: empty, or a
// test's folder. What cannot be read counts as not there.
[[nodiscard]] Machine read_machine(const std::string& root = {});

}  // namespace mynah::gpu
