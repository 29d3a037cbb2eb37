// The server's own description (OpenAPI 3.1), made of the tables that requests are read by.
#pragma once

#include <span>
#include <string>

#include "server/http/route.h"

namespace mynah::server {

// The document, as JSON.
[[nodiscard]] std::string openapi_document(std::span<const Route> routes);

// GET /openapi.json: of those routes and itself.
[[nodiscard]] Route openapi_route(std::span<const Route> routes);

}  // namespace mynah::server
