// Requirements and constraints files of pip, as its documentation "Requirements File Format" has
// them, and as uv reads them.
#pragma once

#include <string_view>

#include "doctor/facts.h"

namespace mynah::doctor {

// Reads one into `recipe`, whose path must be set. Files that pip-compile or uv wrote, where each
// version is exact, count as locked. UTF-16 with its mark is read, too: PowerShell writes it.
void read_requirements_file(std::string_view text, Recipe& recipe);

}  // namespace mynah::doctor
