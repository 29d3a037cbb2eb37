// What whoever runs a server asks of it.
#pragma once

#include <vector>

#include "server/http/route.h"
#include "server/models/service.h"

namespace mynah::server {

// /health/ready, /metrics, /v1/queue and /v1/devices.
[[nodiscard]] std::vector<Route> operation_routes(Service& service);

}  // namespace mynah::server
