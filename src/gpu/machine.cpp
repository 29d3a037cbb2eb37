#include "gpu/machine.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "base/ascii.h"

namespace mynah::gpu {
namespace {

namespace fs = std::filesystem;

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The names in a folder, sorted; none where it cannot be read.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    names.push_back(entry->path().filename());
  }
  std::ranges::sort(names);
  return names;
}

// Whether the kernel's list of all PCI devices, a line each of "0100 10de2204 ...", has none of
// this vendor: one file to read, where a folder for each device takes a millisecond for fifty of
// them. False where there is no such list.
bool has_no_nvidia(const std::string& root) {
  const std::string list = read_text(root + "/proc/bus/pci/devices");
  return !list.empty() && list.find("\t10de") == std::string::npos;
}

// Display controllers (class 0300) and 3D controllers (0302, cards without outputs): the same
// vendor's audio and USB functions and its NVSwitches are none.
std::vector<PciCard> read_pci(const std::string& root) {
  const std::string devices = root + "/sys/bus/pci/devices";
  std::vector<PciCard> cards;
  if (has_no_nvidia(root)) {
    return cards;
  }
  for (const std::string& address : names_in(devices)) {
    const std::string device = fs::path(devices) / address;
    if (trimmed(read_text(device + "/vendor")) != "0x10de") {
      continue;
    }
    const std::string kind = read_text(device + "/class");
    if (!kind.starts_with("0x0300") && !kind.starts_with("0x0302")) {
      continue;
    }
    std::error_code ignored;
    cards.push_back(
        {.address = address,
         .driver = fs::read_symlink(device + "/driver", ignored).filename(),
         .asleep = trimmed(read_text(device + "/power/runtime_status")) == "suspended"});
  }
  return cards;
}

// The value of a line "Name: value".
std::string field(const std::string& text, std::string_view name) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    if (line.starts_with(name) && line.substr(name.size()).starts_with(":")) {
      return std::string(trimmed(line.substr(name.size() + 1)));
    }
    begin = end + 1;
  }
  return {};
}

std::vector<KernelCard> read_kernel_cards(const std::string& root) {
  const std::string folder = root + "/proc/driver/nvidia/gpus";
  std::vector<KernelCard> cards;
  for (const std::string& address : names_in(folder)) {
    const std::string text = read_text(fs::path(folder) / address / "information");
    cards.push_back(
        {.address = address, .model = field(text, "Model"), .uuid = field(text, "GPU UUID")});
  }
  return cards;
}

std::vector<std::string> read_mig_instances(const std::string& root) {
  const std::string folder = root + "/proc/driver/nvidia/capabilities";
  std::vector<std::string> instances;
  for (const std::string& card : names_in(folder)) {
    const std::string slices = card + "/mig";
    for (const std::string& slice : names_in(fs::path(folder) / slices)) {
      for (const std::string& instance : names_in(fs::path(folder) / slices / slice)) {
        if (instance.starts_with("ci")) {
          instances.push_back(fs::path(slices) / slice / instance);
        }
      }
    }
  }
  return instances;
}

// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu ...": the fields are two blanks
// apart.
std::string release_in(const std::string& proc_version) {
  const std::string line = field(proc_version, "NVRM version");
  const size_t gap = line.find("  ");
  if (gap == std::string::npos) {
    return {};
  }
  const std::string_view rest = trimmed(std::string_view(line).substr(gap));
  return std::string(rest.substr(0, rest.find(' ')));
}

bool is_card_node(std::string_view name) {
  constexpr std::string_view kPrefix = "nvidia";
  return name.starts_with(kPrefix) && is_ascii_digits(name.substr(kPrefix.size()));
}

std::vector<CardNode> read_card_nodes(const Machine& machine, const std::string& root) {
  std::vector<CardNode> nodes;
  // Where a card has nodes at all, one of these is among them; a list of all of /dev takes longer.
  if (machine.control_node == NodeState::Missing && machine.uvm_node == NodeState::Missing &&
      node_state(root + "/dev/nvidia0") == NodeState::Missing) {
    return nodes;
  }
  for (const std::string& name : names_in(root + "/dev")) {
    if (is_card_node(name)) {
      const std::string path = "/dev/" + name;
      nodes.push_back({.path = path, .state = node_state(root + path)});
    }
  }
  return nodes;
}

bool is_container(const std::string& root) {
  // Docker, Podman, Apptainer.
  for (const std::string_view marker : {"/.dockerenv", "/run/.containerenv", "/.singularity.d"}) {
    if (fs::exists(root + std::string(marker))) {
      return true;
    }
  }
  const std::string groups = read_text(root + "/proc/1/cgroup");
  return groups.find("docker") != std::string::npos ||
         groups.find("kubepods") != std::string::npos ||
         groups.find("containerd") != std::string::npos || groups.find("/lxc") != std::string::npos;
}

}  // namespace

// The kernel asks a container's device rules here as well as in open(2).
NodeState node_state(const std::string& path) {
  if (::faccessat(AT_FDCWD, path.c_str(), R_OK | W_OK, AT_EACCESS) == 0) {
    return NodeState::Usable;
  }
  switch (errno) {
    case ENOENT:
    case ENOTDIR:
      return NodeState::Missing;
    case EACCES:
      return NodeState::NoPermission;
    case EPERM:
      return NodeState::Denied;
    default:
      return NodeState::Failed;
  }
}

bool Machine::shows_card() const {
  return !pci_cards.empty() || !kernel_cards.empty() || !kernel_driver.empty() ||
         control_node != NodeState::Missing || uvm_node != NodeState::Missing ||
         !card_nodes.empty() || wsl || tegra;
}

Machine read_machine(const std::string& root) {
  Machine machine;
  machine.pci_cards = read_pci(root);
  machine.kernel_cards = read_kernel_cards(root);
  const std::string proc_version = read_text(root + "/proc/driver/nvidia/version");
  machine.kernel_driver = trimmed(read_text(root + "/sys/module/nvidia/version"));
  if (machine.kernel_driver.empty()) {
    machine.kernel_driver = release_in(proc_version);
  }
  machine.open_kernel_module = proc_version.find("Open Kernel Module") != std::string::npos;
  machine.control_node = node_state(root + "/dev/nvidiactl");
  machine.uvm_node = node_state(root + "/dev/nvidia-uvm");
  machine.card_nodes = read_card_nodes(machine, root);
  machine.mig_instances = read_mig_instances(root);
  machine.wsl_node = node_state(root + "/dev/dxg");
  machine.wsl =
      machine.wsl_node != NodeState::Missing ||
      read_text(root + "/proc/sys/kernel/osrelease").find("microsoft") != std::string::npos;
  // nvmap is the memory of the older ones' drivers and of the newer ones'.
  machine.tegra = node_state(root + "/dev/nvmap") != NodeState::Missing;
  machine.container = is_container(root);
  return machine;
}

}  // namespace mynah::gpu
