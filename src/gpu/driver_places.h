// Where systems keep the libraries of NVIDIA's driver.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mynah::gpu {

// Where a library of the driver ("libcuda.so.1") is looked for, in this order: the name alone,
// which the system's loader resolves (LD_LIBRARY_PATH, ld.so.cache), then the folders where
// distributions, WSL2 and containers keep it without telling the loader.
[[nodiscard]] std::vector<std::string> usual_places(std::string_view library);

}  // namespace mynah::gpu
