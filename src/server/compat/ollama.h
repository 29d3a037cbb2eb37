// ollama's list of models that are loaded, which its tools and speaches' ask for.
#pragma once

#include <vector>

#include "server/http/route.h"
#include "server/models/service.h"

namespace mynah::server {

// GET /api/ps (ollama, docs/api.md).
[[nodiscard]] std::vector<Route> ollama_routes(Service& service);

}  // namespace mynah::server
