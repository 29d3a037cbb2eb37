// One requirement as somebody writes it: the specification "Dependency specifiers" of the Python
// packaging guide (PEP 508), and the names of packages (PEP 503).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "doctor/facts.h"

namespace mynah::doctor {

// As PEP 503 normalises a name: small letters, and one '-' for each run of '-', '_' and '.'.
[[nodiscard]] std::string normal_name(std::string_view name);

// "Torch[opt] >= 2.4, < 3 ; python_version < '3.13'", "torch @ https://...". The specifier is
// written without blanks, the marker as it stands. Refuses what packaging refuses.
[[nodiscard]] Result<Requirement> parse_requirement(std::string_view text);

// As it would be written in a requirements file.
[[nodiscard]] std::string requirement_text(const Requirement& requirement);

}  // namespace mynah::doctor
