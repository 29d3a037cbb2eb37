// How long a worker may take to load a model, without an operation meanwhile.
#pragma once

#include <chrono>
#include <string>

namespace mynah::place {

// For the file or folder at `path`.
[[nodiscard]] std::chrono::milliseconds load_limit(const std::string& path);

}  // namespace mynah::place
