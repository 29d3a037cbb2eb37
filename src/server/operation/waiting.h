// What waits for models, and what they are at.
#pragma once

#include "server/http/exchange.h"
#include "server/models/service.h"

namespace mynah::server {

// GET /v1/queue: how many wait and how many are being served, how long what waits will take, and
// those requests of them that belong to who asks.
[[nodiscard]] Handler queue(Service& service);

}  // namespace mynah::server
