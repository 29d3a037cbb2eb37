// A client of Realtime (OpenAI's API over a WebSocket): what it says as text while it speaks, and
// texts spoken to it.
#pragma once

#include <vector>

#include "server/http/route.h"
#include "server/metrics/socket_turns.h"
#include "server/models/service.h"

namespace mynah::server {

// What is computed for it is told turn by turn. Both must outlive the sessions.
[[nodiscard]] std::vector<Route> realtime_routes(Service& service, const TurnPlaces& turns);

}  // namespace mynah::server
