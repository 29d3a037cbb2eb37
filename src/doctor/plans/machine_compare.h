// What differs between two machines, as far as cards and what computes on them ask for it.
#pragma once

#include <string>
#include <vector>

#include "doctor/facts.h"

namespace mynah::doctor {

// "driver", "580.95.05", "550.54.14".
struct MachineChange {
  std::string what;
  std::string from;  // empty: nothing, or nothing is known of it
  std::string to;

  bool operator==(const MachineChange&) const = default;
};

// In the order in which it decides: system, cards, driver, its module, containers, the rest.
[[nodiscard]] std::vector<MachineChange> machine_changes(const Machine& first,
                                                         const Machine& second);

}  // namespace mynah::doctor
