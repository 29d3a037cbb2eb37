// A client of Realtime (OpenAI's API over a WebSocket): what it says as text while it speaks, and
// texts spoken to it.
#pragma once

#include <vector>

#include "server/http/route.h"
#include "server/models/service.h"

namespace mynah::server {

[[nodiscard]] std::vector<Route> realtime_routes(Service& service);

}  // namespace mynah::server
