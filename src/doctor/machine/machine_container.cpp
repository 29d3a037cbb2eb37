#include <algorithm>
#include <string_view>

#include "doctor/machine/machine_parts.h"
#include "doctor/machine/machine_text.h"

namespace mynah::doctor {
namespace {

constexpr std::string_view kProgramFolders[] = {"/usr/bin/", "/usr/local/bin/", "/bin/"};

bool has_program(const Tree& tree, std::string_view name) {
  return std::ranges::any_of(kProgramFolders, [&](std::string_view folder) {
    return tree.has(std::string(folder).append(name));
  });
}

// Whether a CDI specification (of the CNCF's container-device-interface) in that folder is about
// NVIDIA's cards: "kind: nvidia.com/gpu".
bool names_cards(const Tree& tree, std::string_view folder) {
  return std::ranges::any_of(tree.names(folder), [&](const std::string& name) {
    return (name.ends_with(".yaml") || name.ends_with(".json")) &&
           tree.words(std::string(folder) + "/" + name).find("nvidia.com/gpu") != std::string::npos;
  });
}

}  // namespace

Container gather_container(const MachineView& view) {
  const Tree& tree = view.tree;
  Container container;
  container.inside = view.system.container;
  // Docker as the system's, and rootless.
  std::vector<std::string> settings = {"/etc/docker/daemon.json",
                                       "/var/snap/docker/current/config/daemon.json"};
  if (const auto home = view.search.variables.find("HOME"); home != view.search.variables.end()) {
    settings.push_back(home->second + "/.config/docker/daemon.json");
  }
  for (const std::string& path : settings) {
    for (std::string& name : docker_runtimes(tree.words(path))) {
      if (std::ranges::find(container.runtimes, name) == container.runtimes.end()) {
        container.runtimes.push_back(std::move(name));
      }
    }
  }
  container.toolkit = container.cdi = false;  // looked for
  for (const std::string_view program :
       {"nvidia-container-toolkit", "nvidia-container-runtime", "nvidia-container-runtime-hook",
        "nvidia-ctk", "nvidia-container-cli"}) {
    container.toolkit = *container.toolkit || has_program(tree, program);
  }
  for (const std::string_view folder : {"/etc/cdi", "/var/run/cdi", "/run/cdi"}) {
    container.cdi = *container.cdi || names_cards(tree, folder);
  }
  container.docker_snap = tree.has("/snap/docker") || tree.has("/var/lib/snapd/snap/docker");
  container.docker = container.docker_snap || has_program(tree, "docker");
  return container;
}

}  // namespace mynah::doctor
