// What an installation would replace, asked of an environment's own pip: the only program that a
// look at places starts, and only where --resolve is given.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/doctor/doctor_options.h"
#include "doctor/facts.h"
#include "doctor/knowledge/knowledge.h"

namespace mynah::cli {

// Whether --resolve can go with these places and options.
[[nodiscard]] Status check_resolve(const std::vector<std::string>& places,
                                   const DoctorOptions& options);

// Prints what `pip install --dry-run` of the requirements files among `places` would change in the
// one environment of `facts`, and what that breaks; whether something that worked fails then. Where
// pip is missing or has no answer, a line on standard error says so, and nothing is worse.
[[nodiscard]] Result<bool> doctor_resolve(Context& context, const std::vector<std::string>& places,
                                          const DoctorOptions& options, const doctor::Facts& facts,
                                          const doctor::Knowledge& knowledge);

}  // namespace mynah::cli
