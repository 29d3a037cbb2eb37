// Whether the server lives and can work, for whoever restarts it when it does not.
#pragma once

#include <string>

#include "server/http/exchange.h"

namespace mynah::server {

// GET /health, /health/live: it answers at all.
[[nodiscard]] Handler alive();

// GET /version.
[[nodiscard]] Handler version();

}  // namespace mynah::server
