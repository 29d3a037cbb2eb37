// The word behind --device.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace mynah::cli {

// The words that this build understands: auto, cpu and ref.
[[nodiscard]] std::vector<std::string> device_names();

// One of device_names(). A device of another kind ("cuda:0") is well said but not there: Device;
// any other word is a slip: Usage, with the name that it most likely meant.
[[nodiscard]] Status check_device(const std::string& device);

}  // namespace mynah::cli
