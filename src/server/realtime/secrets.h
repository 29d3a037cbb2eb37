// Client secrets over HTTP: what a page or a phone is handed to open one socket of Realtime.
#pragma once

#include <vector>

#include "server/access/client_secrets.h"
#include "server/http/route.h"

namespace mynah::server {

// POST /v1/realtime/client_secrets, and the beta's /v1/realtime/sessions and
// /v1/realtime/transcription_sessions. `secrets` must outlive the routes.
[[nodiscard]] std::vector<Route> client_secret_routes(ClientSecrets& secrets);

}  // namespace mynah::server
