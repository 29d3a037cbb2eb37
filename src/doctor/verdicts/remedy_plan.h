// A remedy before it is one: what it installs, and how that is judged.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/facts.h"
#include "doctor/finding.h"
#include "doctor/knowledge/knowledge.h"
#include "doctor/verdicts/verdict.h"

namespace mynah::doctor {

// What an installation would change.
struct Change {
  Framework framework;            // as it is afterwards
  std::vector<Package> packages;  // names and versions that come, the framework's own among them
  std::string driver;             // that must be there for it; empty: the one that is
};

// The environment after a change: what it brings in place of what had the same name.
[[nodiscard]] PythonEnvironment changed(const PythonEnvironment& environment, const Change& change,
                                        const Knowledge& knowledge);

// A framework on a card after a change.
[[nodiscard]] Judged judge_change(const Change& change, const Card& card, const Machine& machine,
                                  const PythonEnvironment& environment, const Knowledge& knowledge);

// Whether that is what a remedy is for. Without a known driver nothing more can be said than that
// there is code for the card.
[[nodiscard]] bool mends(const Judged& judged);

// What a change costs elsewhere in the environment: requirements that no longer hold, packages that
// cannot stand beside the new ones, frameworks that come off worse. Empty: nothing that is known
// of.
[[nodiscard]] std::string cost_of(const Change& change, const Card& card, const Machine& machine,
                                  const PythonEnvironment& environment, const Knowledge& knowledge);

// What an environment has against packages that come, by their names and versions: requirements
// that no longer hold, and packages that cannot stand beside them.
[[nodiscard]] std::vector<std::string> objections(const PythonEnvironment& environment,
                                                  const std::vector<Package>& packages,
                                                  const Knowledge& knowledge);

// pip as the environment's own tool or interpreter runs it: "/srv/asr/bin/python -m pip", "uv pip".
// "pip" where nobody knows which environment it is.
[[nodiscard]] std::string pip_command(const PythonEnvironment& environment);

// "pip install", by pip_command().
[[nodiscard]] std::string install_command(const PythonEnvironment& environment);

// "pip uninstall -y", by pip_command().
[[nodiscard]] std::string uninstall_command(const PythonEnvironment& environment);

// The folder that a framework's package lies in, and NVIDIA's wheels beside it; of an environment
// of which nobody knows where it lies a variable that library_path_line sets.
[[nodiscard]] std::string site_of(const Framework& framework, const PythonEnvironment& environment);

// " && export LD_LIBRARY_PATH=..." for folders below a site; empty where there are none, and on
// Windows, whose loader asks no such variable.
[[nodiscard]] std::string library_path_line(const std::string& site,
                                            const std::vector<std::string>& folders, System system);

}  // namespace mynah::doctor
