// What this machine calls itself.
#pragma once

#include <string>

namespace mynah {

// "" where it has no name, or one that is too long to be one.
[[nodiscard]] std::string host_name();

}  // namespace mynah
