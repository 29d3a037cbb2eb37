// The word behind --device.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace mynah::cli {

// The words that are offered: auto, cpu, cuda, ref, simt:0.
[[nodiscard]] std::vector<std::string> device_names();

// The card that is meant by "cuda" (the first) or "cuda:N"; none: another device.
[[nodiscard]] std::optional<int> card_index(const std::string& device);

// One of device_names(), or "cuda:N". A device that other engines compute on ("metal") is well said
// but not here: Device; any other word is a slip: Usage, with the name that it most likely meant.
[[nodiscard]] Status check_device(const std::string& device);

}  // namespace mynah::cli
