// What this mynah does for others that have it as a device: windows and clauses, computed with the
// models that are here. docs/placement.md, "A mynah elsewhere".
#pragma once

#include <vector>

#include "server/http/route.h"
#include "server/models/service.h"

namespace mynah::server {

[[nodiscard]] std::vector<Route> elsewhere_routes(Service& service);

}  // namespace mynah::server
