// The steps from one set of packages to another.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "doctor/finding.h"
#include "doctor/knowledge/knowledge.h"
#include "doctor/versions.h"

namespace mynah::doctor {

// Version by name, as PEP 503 normalises it.
using Pins = std::map<std::string, std::string, std::less<>>;

// A side of a comparison, as far as steps are concerned.
struct PinnedSide {
  Pins pins;
  std::map<std::string, SpecifierSet, std::less<>> open;  // asked for without a pin, by name
  // That are asked for with a package, by its name: "cuda" and "cudnn" of onnxruntime-gpu. Of what
  // is installed nobody knows them.
  std::map<std::string, std::set<std::string>, std::less<>> extras;
  std::string python;  // "3.11"; empty: not known
  std::string conda;   // the file that conda makes it of; empty: pip and its kin install it
  // The pins are all that is installed: those of an environment, or of a lock file that names
  // NVIDIA's wheels where its torch wants them. False: what they ask for comes with them.
  bool whole = false;
};

// In an order in which a step that fails leaves what worked: the driver (`driver`, with others'
// words; none where nothing is to be done), an environment of the second's Python, what would
// delete files of a package that stays or comes, one installation of all that differs from all
// indexes (pip fetches everything before it changes anything), packages whose files were taken
// along, and at last what the second has not. What only a file that is not whole leaves out is not
// uninstalled: something that it asks for may need it. What conda makes is made anew, beside the
// first, and so is what comes in place of that: neither installs into the other's environments.
// Empty where nothing is to be done.
[[nodiscard]] std::vector<Remedy> steps_between(const PinnedSide& first, const PinnedSide& second,
                                                std::vector<Remedy> driver,
                                                const Knowledge& knowledge);

}  // namespace mynah::doctor
