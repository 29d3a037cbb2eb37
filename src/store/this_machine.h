// Hosts that are this machine.
#pragma once

#include <algorithm>
#include <string_view>

#include "base/ascii.h"

namespace mynah {

// Whether a host is this machine by its name: localhost, 127.0.0.0/8, ::1. "127.evil.example" is
// another's.
[[nodiscard]] inline bool is_this_machine(std::string_view host) {
  return host == "localhost" || host == "::1" ||
         (host.starts_with("127.") &&
          std::ranges::all_of(host, [](char c) { return is_ascii_digit(c) || c == '.'; }));
}

}  // namespace mynah
