// Drivers of NVIDIA's that are newer than one, as remedies and plans propose them.
#pragma once

#include <string>
#include <vector>

#include "doctor/facts.h"
#include "doctor/knowledge/knowledge.h"

namespace mynah::doctor {

// A driver that something may begin to work with.
struct NewerDriver {
  std::string version;  // "525.60.13", or the first of a branch: "570.0"
  std::string words;    // "of release 525.60.13 or later", "of branch 570 or later"
};

// The oldest first: the first release of each branch whose CUDA version was verified, and between
// them the releases from which a CUDA version's programs start. All are newer than the machine's,
// of which nothing may be known.
[[nodiscard]] std::vector<NewerDriver> newer_drivers(const Machine& machine,
                                                     const Knowledge& knowledge);

}  // namespace mynah::doctor
