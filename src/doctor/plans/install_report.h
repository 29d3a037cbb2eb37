// What an installation would bring into an environment, as its own pip says: `mynah doctor
// --resolve`.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "doctor/facts.h"
#include "doctor/knowledge/knowledge.h"

namespace mynah::doctor {

// A report of pip is this large at most, in bytes, and has so many packages: far above any real
// one's.
inline constexpr size_t kMostReportBytes = size_t{64} << 20;
inline constexpr size_t kMostReportPackages = 10'000;

// The packages of an installation report of version 1 (pip's documentation, "Installation Report"):
// what `pip install --dry-run --report -` would install, in place of what has the same name.
[[nodiscard]] Result<std::vector<Package>> parse_install_report(std::string_view text);

// The environment after that. Nobody sees files that are not there yet: frameworks that come, and
// those whose libraries of NVIDIA's are replaced, are as the knowledge base has them; of one that
// it does not have nothing is said.
[[nodiscard]] PythonEnvironment environment_after(const PythonEnvironment& environment,
                                                  const std::vector<Package>& packages,
                                                  const Knowledge& knowledge);

}  // namespace mynah::doctor
