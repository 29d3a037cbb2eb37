// Which requirements one run of an installer gets, and the indexes that it looks at.
#pragma once

#include <string>
#include <vector>

#include "doctor/facts.h"
#include "doctor/recipes/recipe_columns.h"

namespace mynah::doctor {

struct InstallRun {
  std::vector<const Asked*> asked;        // of the column, in the order of names
  std::vector<const IndexLine*> indexes;  // of files and variables; a requirement may have its own
  bool in_image = false;                  // a command of a Dockerfile runs it

  // Addresses that a requirement of this run is looked for at, besides the Python index.
  [[nodiscard]] std::vector<std::string> urls(const Requirement& requirement) const;
  // Whether none of them takes the place of the Python index for it.
  [[nodiscard]] bool keeps_python_index(const Requirement& requirement) const;
};

// A file and what it includes are one run; of a Dockerfile, each command is. Pointers are into the
// column.
[[nodiscard]] std::vector<InstallRun> install_runs(const RecipeColumn& column);

// Whether everything that decides where packages come from is written down in an image: one that
// brings settings of pip of its own is none of these.
[[nodiscard]] bool says_all(const RecipeColumn& column);

}  // namespace mynah::doctor
