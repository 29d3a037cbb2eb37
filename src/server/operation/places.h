// Where models compute, and why there.
#pragma once

#include "server/http/exchange.h"
#include "server/models/service.h"

namespace mynah::server {

// GET /v1/devices: what there is to compute on, and of each stage that was opened its device with
// the proof of it.
[[nodiscard]] Handler devices(Service& service);

}  // namespace mynah::server
