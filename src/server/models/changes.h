// Models that are brought, opened, let go and removed by those who may (Right::Models).
#pragma once

#include <vector>

#include "server/http/route.h"
#include "server/models/service.h"

namespace mynah::server {

// GET /v1/registry: what can be pulled. POST /v1/models and /v1/models/{name}: pulls it, with its
// progress. DELETE /v1/models/{name}. POST /v1/models/{name}/load and /unload.
[[nodiscard]] std::vector<Route> model_change_routes(Service& service);

}  // namespace mynah::server
