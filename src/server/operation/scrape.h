// What a server tells Prometheus.
#pragma once

#include "server/http/exchange.h"
#include "server/models/service.h"

namespace mynah::server {

// GET /metrics.
[[nodiscard]] Handler metrics(Service& service);

}  // namespace mynah::server
