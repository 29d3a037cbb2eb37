// The table of verbs: what `mynah` can do.
#pragma once

#include <vector>

#include "cli/command/verb.h"

namespace mynah::cli {

// In the order of --help.
[[nodiscard]] std::vector<Verb> all_verbs();

}  // namespace mynah::cli
