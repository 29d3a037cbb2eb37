// An installation as what a recipe's files would say.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doctor/finding.h"
#include "doctor/recipes/alignment.h"
#include "doctor/recipes/recipe_columns.h"

namespace mynah::doctor {

struct InstallationEdits {
  std::vector<AlignmentEdit> edits;
  std::vector<RemedyStep> more;  // what the command does besides, which no file of packages says
};

// "pip install 'onnxruntime-gpu==1.23.2' && export LD_LIBRARY_PATH=..." for the package that `by`
// asks for. No edits: the command installs no package of the name, or is none that was understood.
[[nodiscard]] InstallationEdits installation_edits(const std::string& command,
                                                   const RecipeColumn& column, const Asked& by,
                                                   const Knowledge& knowledge);

// A command of pip, as the program says it that installs what is asked for: where uv does there may
// be no pip.
[[nodiscard]] std::string installer_command(const Asked& asked, std::string command);

// What adds packages, " a b", to the project whose lock pins what is asked for; empty: none that is
// known.
[[nodiscard]] std::string add_command(const Asked& asked, std::string_view packages);

// Takes a pinned package out of the file that asks for it.
[[nodiscard]] AlignmentEdit removal_edit(const Asked& asked, std::string why);

}  // namespace mynah::doctor
