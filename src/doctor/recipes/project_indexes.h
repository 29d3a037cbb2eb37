// Indexes that a project is to name: in tables of uv's or PDM's, or by commands of Poetry's.
#pragma once

#include <string>

#include "doctor/recipes/alignment.h"

namespace mynah::doctor {

// Whether an edit names an index in a pyproject.toml that names none yet.
[[nodiscard]] bool names_project_index(const AlignmentEdit& edit);

// One line for a shell that does it for what is to come from there (`pins` of the edit), for who
// installs the project, or else whosever the project is; empty: none does.
[[nodiscard]] std::string project_index_command(const AlignmentEdit& edit);

// The same in words, with the lines that are read.
[[nodiscard]] std::string project_index_text(const AlignmentEdit& edit);

}  // namespace mynah::doctor
