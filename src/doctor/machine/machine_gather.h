// Looks at a machine: its cards, drivers, containers and what else decides whether programs can
// compute on a card. Reads files alone: it runs nothing, opens no driver and wakes no card.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "doctor/facts.h"
#include "doctor/knowledge/knowledge.h"
#include "gpu/devices.h"
#include "gpu/nvml.h"

namespace mynah::doctor {

struct MachineSearch {
  // Of the tree that is looked at, without '/' at its end; empty: this machine.
  std::string root;
  // The environment that programs would run in, all of it; what has nothing to do with cards and
  // libraries is left out of the facts.
  std::map<std::string, std::string> variables;
  // What somebody who may wait for the driver was told by it and by NVML. Nobody need be asked:
  // then names and compute capabilities come from files and the knowledge base.
  std::vector<gpu::GpuDevice> devices;
  gpu::NvmlFacts nvml;
};

// What cannot be read stays empty: a machine without cards and rights is no failure. A tree with
// Windows/System32 and without /proc is a Windows machine; of those only the driver's library, its
// release and the variables are known.
[[nodiscard]] Machine gather_machine(const MachineSearch& search, const Knowledge& knowledge);

}  // namespace mynah::doctor
