// Server-sent events (HTML Standard, section 9.2).
#pragma once

#include <string>
#include <string_view>

#include "server/http/exchange.h"

namespace mynah::server {

// The head of an answer of events, which nobody between is to keep back.
[[nodiscard]] Response event_stream();

// "data: TEXT", with the empty line behind it. `json` is one line.
[[nodiscard]] std::string event(std::string_view json);

}  // namespace mynah::server
