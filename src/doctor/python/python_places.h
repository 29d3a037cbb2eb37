// Where Python environments lie.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "doctor/facts.h"
#include "doctor/tree.h"

namespace mynah::doctor {

// Variables of the user's that are read, where Look has them.
inline constexpr auto kLookVariables = std::to_array<std::string_view>(
    {"HOME", "VIRTUAL_ENV", "CONDA_PREFIX", "LD_LIBRARY_PATH", "TMPDIR", "UV_TOOL_DIR", "PIPX_HOME",
     "WORKON_HOME", "MAMBA_ROOT_PREFIX"});

// What to look at, and what of the machine decides about it.
struct Look {
  // Environments, site-packages folders, projects with a .venv, folders of unpacked wheels, wheels,
  // unpacked images.
  std::vector<std::filesystem::path> places = {};
  // All environments that are found where Python's tools put them: where no place is named, or
  // besides.
  bool everything = false;
  std::map<std::string, std::string> variables = {};  // kLookVariables
  std::string here = {};                              // the current directory; empty: not known
  // Of a tree that is looked at as if it were this machine, without '/' at its end; all other paths
  // are as seen inside of it. Empty: this machine.
  std::string root = {};
};

// An environment before its packages are read.
struct EnvironmentPlace {
  std::string path;    // its prefix
  std::string kind;    // as PythonEnvironment has it
  std::string python;  // "3.11"; empty: not known
  System system = System::Linux;
  std::vector<std::string> sites;  // folders of packages, in the order of sys.path
  std::string program;             // the interpreter, links not followed; empty: none found
  bool conda = false;              // has conda-meta
};

// The environments at or below a place that somebody named. Fails where there is none, and says
// what was looked for.
Result<std::vector<EnvironmentPlace>> environments_at(Tree& tree, const std::string& place);

// All that are found by VIRTUAL_ENV, CONDA_PREFIX, .venv and venv of the current directory, in the
// system, in the user's folder and where conda, uv, Poetry, pipx, pyenv, Pipenv and
// virtualenvwrapper keep them: active ones first, each once, 256 at most.
std::vector<EnvironmentPlace> environments_everywhere(Tree& tree, const Look& look);

// Whether the folder is the root of an unpacked image.
[[nodiscard]] bool is_image_tree(const Tree& tree, const std::string& folder);

}  // namespace mynah::doctor
