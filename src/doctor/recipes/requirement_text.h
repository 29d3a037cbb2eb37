// One requirement as somebody writes it: the specification "Dependency specifiers" of the Python
// packaging guide (PEP 508).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "doctor/facts.h"
#include "doctor/package_name.h"

namespace mynah::doctor {

// "Torch[opt] >= 2.4, < 3 ; python_version < '3.13'", "torch @ https://...". The specifier is
// written without blanks, the marker as it stands. Refuses what packaging refuses.
[[nodiscard]] Result<Requirement> parse_requirement(std::string_view text);

// As it would be written in a requirements file.
[[nodiscard]] std::string requirement_text(const Requirement& requirement);

}  // namespace mynah::doctor
