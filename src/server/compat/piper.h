// piper's HTTP server (OHF-Voice/piper1-gpl, http_server.py), and rhasspy/piper's before it.
#pragma once

#include <string>
#include <vector>

#include "server/http/route.h"
#include "server/models/service.h"

namespace mynah::server {

// POST / and /synthesize: an object with a text, or the text alone, answered as WAV; a voice that
// is not here means the default, as there. GET /voices. `media_program` as of speech().
[[nodiscard]] std::vector<Route> piper_routes(Service& service, const std::string& media_program);

}  // namespace mynah::server
