// All facts of this machine, of environments, recipes and toolkits: files are read, nothing is run
// or imported.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "doctor/facts.h"
#include "doctor/knowledge/knowledge.h"
#include "gpu/devices.h"
#include "gpu/nvml.h"

namespace mynah::doctor {

// A machine that the places are meant for, in place of this one.
struct OtherMachine {
  Machine machine;
  // It has libraries of its own: what the loader does not find here may be there.
  bool own_libraries = false;
};

struct GatherRequest {
  // Environments, folders of projects, recipes, trees of images, toolkits. None: what this machine
  // has where such things usually are, and the recipes of the current folder, not of those in it.
  std::vector<std::filesystem::path> places;
  std::map<std::string, std::string> variables;  // the process's environment
  // What the driver and NVML of this machine told, where somebody asked them: MachineSearch has
  // them then.
  std::vector<gpu::GpuDevice> devices;
  gpu::NvmlFacts nvml;
  std::optional<OtherMachine> other;  // none: this machine is looked at
};

// A place that does not exist is an error; what cannot be read in one is in Facts::skipped.
[[nodiscard]] Result<Facts> gather_facts(const GatherRequest& request, const Knowledge& knowledge);

}  // namespace mynah::doctor
