// What a framework of a Python environment was built with.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "doctor/facts.h"
#include "doctor/knowledge/knowledge.h"

namespace mynah::doctor {

// The values that its Python files set (read_assignments).
using PythonValues = std::map<std::string, std::optional<std::string>, std::less<>>;

// The CUDA version, from the surest source that there is: torch/version.py and
// build_and_package_info.py, the local part of its version, the name of a file, the PTX language of
// its device code, the names of the libraries that it wants. Empty: it is known to compute on the
// processor alone. `knows_cpu`: without files that could hold device code it does.
[[nodiscard]] std::optional<std::string> cuda_built_with(const Framework& framework,
                                                         const PythonValues& values, bool knows_cpu,
                                                         const Knowledge& knowledge);

// The cuDNN version: its Python files, the pinned requirement of its package (null: none), the
// names of the libraries that it wants or brings. Empty: none, or not known.
[[nodiscard]] std::string cudnn_built_with(const Framework& framework, const PythonValues& values,
                                           const Package* package);

// "9.10.2" of "libcudnn.so.9.10.2"; "9" of "cudnn64_9.dll"; empty: the name says none.
[[nodiscard]] std::string version_of_library(std::string_view file_name);

}  // namespace mynah::doctor
