#include "doctor/machine/machine_gather.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include <sys/stat.h>

#include "doctor/characters.h"
#include "doctor/machine/machine_parts.h"
#include "doctor/machine/machine_text.h"
#include "doctor/tree.h"
#include "gpu/machine.h"

namespace mynah::doctor {
namespace {

// What decides about cards and libraries; whole names, or beginnings that end in '_'.
constexpr std::string_view kVariables[] = {
    "CUDA_",
    "NVIDIA_",
    "PYTORCH_",
    "TORCH_",
    "CUDNN_",
    "NVCC_",
    "NCCL_",
    "HSA_",
    "HIP_",
    "ROCR_",
    "ROCM_",
    "ORT_",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "CUDA_HOME",
    "CUDA_PATH",
    "CUDACXX",
    "CUDAHOSTCXX",
    "GPU_DEVICE_ORDINAL",
    "ZE_AFFINITY_MASK",
    "CONDA_PREFIX",
    "JETSON_JETPACK",
    "CT2_",
    "ONEAPI_DEVICE_SELECTOR",
    "TRITON_",
    "CMAKE_CUDA_",
    "GGML_",
    "CMAKE_ARGS",
};

// What may hold a secret (NVIDIA_API_KEY) stays out of facts, which people send around.
constexpr std::string_view kSecrets[] = {"KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"};

bool matters(std::string_view name) {
  if (std::ranges::any_of(kSecrets, [&](auto word) { return name.find(word) != name.npos; })) {
    return false;
  }
  return std::ranges::any_of(kVariables, [&](std::string_view known) {
    return known.ends_with('_') ? name.starts_with(known) : name == known;
  });
}

std::string_view word_of(gpu::NodeState state) {
  switch (state) {
    case gpu::NodeState::Usable:
      return "usable";
    case gpu::NodeState::Missing:
      return "missing";
    case gpu::NodeState::NoPermission:
      return "no permission";
    case gpu::NodeState::Denied:
      return "denied";
    case gpu::NodeState::Failed:
      break;
  }
  return "failed";
}

class NodeGatherer {
 public:
  explicit NodeGatherer(const MachineView& view)
      : view_(view), groups_(group_names(view.tree.words("/etc/group"))) {}

  std::vector<Node> run() {
    if (view_.system.wsl) {
      add("/dev/dxg", view_.system.wsl_node, true);
    } else if (!view_.system.tegra) {
      const bool expected = view_.system.shows_card();
      add("/dev/nvidiactl", view_.system.control_node, expected);
      add("/dev/nvidia-uvm", view_.system.uvm_node, expected);
      for (const gpu::CardNode& node : view_.system.card_nodes) {
        add(node.path, node.state, true);
      }
    }
    add_of_others();
    return std::move(nodes_);
  }

 private:
  // AMD's and Intel's.
  void add_of_others() {
    add_if_there("/dev/kfd");
    for (const std::string& name : view_.tree.names("/dev/dri")) {
      if (name.starts_with("renderD")) {
        add_if_there("/dev/dri/" + name);
      }
    }
  }

  void add_if_there(const std::string& path) {
    add(path, gpu::node_state(view_.tree.root() + path), false);
  }

  void add(const std::string& path, gpu::NodeState state, bool expected) {
    if (state == gpu::NodeState::Missing && !expected) {
      return;
    }
    Node node{.path = path, .state = std::string(word_of(state)), .group = {}};
    struct stat info{};
    if (::stat((view_.tree.root() + path).c_str(), &info) == 0) {
      const auto group = groups_.find(info.st_gid);
      node.group = group == groups_.end() ? std::to_string(info.st_gid) : group->second;
    }
    nodes_.push_back(std::move(node));
  }

  const MachineView& view_;
  std::map<uint64_t, std::string> groups_;
  std::vector<Node> nodes_;
};

// Of this process, by number in /proc/self/status, by name in /etc/group.
std::vector<std::string> read_groups(const Tree& tree) {
  const std::string status = tree.words("/proc/self/status");
  const std::map<uint64_t, std::string> names = group_names(tree.words("/etc/group"));
  std::vector<std::string> numbers = words_behind(status, "Groups");
  // Real, effective, saved, of the file system.
  if (const std::vector<std::string> own = words_behind(status, "Gid"); own.size() > 1) {
    numbers.push_back(own[1]);
  }
  std::vector<std::string> groups;
  for (const std::string& number : numbers) {
    uint64_t id = 0;
    const auto read = std::from_chars(number.data(), number.data() + number.size(), id);
    const auto name = read.ec == std::errc() ? names.find(id) : names.end();
    std::string group = name == names.end() ? number : name->second;
    if (std::ranges::find(groups, group) == groups.end()) {
      groups.push_back(std::move(group));
    }
  }
  return groups;
}

std::optional<bool> truth_of(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(text != "0");
}

std::optional<bool> read_keeps_memory(const Tree& tree) {
  const auto words =
      words_behind(tree.words("/proc/driver/nvidia/params"), "PreserveVideoMemoryAllocations");
  if (!words.empty()) {
    return truth_of(words.front());
  }
  std::string value;
  for (const std::string_view folder : {"/usr/lib/modprobe.d", "/etc/modprobe.d"}) {
    for (const std::string& name : tree.names(folder)) {
      if (!name.ends_with(".conf")) {
        continue;
      }
      std::string found = module_option(tree.words(std::string(folder) + "/" + name),
                                        "NVreg_PreserveVideoMemoryAllocations");
      if (!found.empty()) {
        value = std::move(found);
      }
    }
  }
  return truth_of(value);
}

bool is_windows(const Tree& tree) {
  return !tree.has("/proc") && (tree.has("/Windows/System32") || tree.has("/WINDOWS/System32"));
}

std::string first_line(std::string_view text) {
  return std::string(trimmed(text.substr(0, text.find('\n'))));
}

void read_linux(const MachineView& view, Machine& machine) {
  const Tree& tree = view.tree;
  machine.name = first_line(tree.words("/proc/sys/kernel/hostname"));
  const std::string release = tree.words("/etc/os-release");
  machine.release = setting_of(release, "PRETTY_NAME");
  machine.kernel = first_line(tree.words("/proc/sys/kernel/osrelease"));
  const std::string processors = tree.words("/proc/cpuinfo");
  machine.processor_flags = words_behind(processors, "flags");
  if (machine.processor_flags.empty()) {
    machine.processor_flags = words_behind(processors, "Features");  // of Arm
  }
  machine.cards = gather_cards(view);
  machine.driver = view.system.kernel_driver;
  const std::string version = tree.words("/proc/driver/nvidia/version");
  machine.open_kernel_module = view.system.open_kernel_module;
  machine.closed_kernel_module = !machine.open_kernel_module &&
                                 version.find("NVIDIA UNIX") != std::string::npos &&
                                 version.find("Kernel Module") != std::string::npos;
  machine.nodes = NodeGatherer(view).run();
  machine.groups = read_groups(tree);
  machine.wsl = view.system.wsl;
  machine.mig_instances = view.system.mig_instances;
  machine.container = gather_container(view);
  gather_kernel_log(tree, machine);
  if (!machine.driver.empty()) {
    const std::string sleeps = first_line(tree.words("/sys/power/suspend_stats/success"));
    machine.slept = truth_of(sleeps);
    machine.keeps_memory_asleep = read_keeps_memory(tree);
  }
  gather_libraries(view, machine);
}

}  // namespace

Machine gather_machine(const MachineSearch& search, const Knowledge& knowledge) {
  const Tree tree(search.root);
  Machine machine;
  for (const auto& [name, value] : search.variables) {
    if (matters(name)) {
      machine.variables.emplace(name, value);
    }
  }
  if (is_windows(tree)) {
    gather_windows(tree, machine);
    return machine;
  }
  const gpu::Machine system = gpu::read_machine(search.root);
  read_linux({.tree = tree, .search = search, .knowledge = knowledge, .system = system}, machine);
  // Windows's driver is told by NVML alone.
  if (machine.driver.empty() && machine.wsl) {
    machine.driver = search.nvml.driver_release;
  }
  return machine;
}

}  // namespace mynah::doctor
