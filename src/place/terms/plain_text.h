// Text that came from outside mynah (a driver, a worker, a file) and is shown on a terminal: it
// must not steer that.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mynah::place {

// At most so many bytes, and none that steer a terminal: C0, DEL, and C1 in UTF-8.
[[nodiscard]] bool is_plain(std::string_view text, size_t most);

// The text as is_plain() allows it: spaces for what steers, cut between two characters.
[[nodiscard]] std::string made_plain(std::string_view text, size_t most);

}  // namespace mynah::place
