// Names of Python packages.
#pragma once

#include <string>
#include <string_view>

namespace mynah::doctor {

// "onnxruntime-gpu" of "ONNXRuntime_GPU": small letters, and one '-' for each run of '-', '_' and
// '.' (PEP 503).
[[nodiscard]] std::string normal_name(std::string_view name);

}  // namespace mynah::doctor
