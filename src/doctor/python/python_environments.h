// Python environments, read without Python: which packages they hold, whose files lie over whose,
// what their frameworks were built for and which libraries they would load.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "doctor/facts.h"
#include "doctor/knowledge/knowledge.h"
#include "doctor/python/python_places.h"

namespace mynah::doctor {

// Reads the environments that `look` asks for: those at its places in their order, then all that
// are found, if it asks for them. Nothing is imported or run. A wheel is unpacked into a temporary
// folder for the while, and its files are told as "NAME.whl/torch/lib/libtorch_cuda.so"; an
// unpacked image is looked at as if it were the machine, and its files are told as they are inside
// of it. Fails where a named place has no environment; what could not be read in one that there is
// goes to `skipped` with the reason.
Result<std::vector<PythonEnvironment>> gather_environments(const Look& look,
                                                           const Knowledge& knowledge,
                                                           std::vector<std::string>& skipped);

}  // namespace mynah::doctor
