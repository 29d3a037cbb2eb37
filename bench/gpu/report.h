// What the check found, for people.
#pragma once

#include <string>
#include <vector>

#include "check.h"

namespace mynah::gpucheck {

// The status of a section that --only left out.
inline constexpr const char* kNotAskedFor = "not asked for";

// A line for everything that is not as it should be: sections that did not end well, results that
// disagree, cases that failed, faults that were not told, texts that depend on their batch.
std::vector<std::string> what_is_wrong(const Json& report);

// Tables, with what each time is of what the card can do: of its memory's measured speed, and of
// the best product of that type that was measured there, a peer's or our own.
std::string as_markdown(const Json& report);

}  // namespace mynah::gpucheck
