// Models that are brought, opened, let go and removed by those who may (Right::Models).
#pragma once

#include <vector>

#include "server/http/route.h"
#include "server/models/service.h"

namespace mynah::server {

// POST /v1/models: pulls one of the catalogue, with its progress; DELETE /v1/models/{name};
// POST /v1/models/{name}/load and /unload.
[[nodiscard]] std::vector<Route> model_change_routes(Service& service);

}  // namespace mynah::server
