// A span of time as people say it.
#pragma once

#include <string>

namespace mynah::place {

// "3 s", "12 min", "7 h", "3 days": whole numbers, the unit that leaves two of them or more.
[[nodiscard]] std::string time_text(double seconds);

}  // namespace mynah::place
