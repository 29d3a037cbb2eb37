// POST /v1/embeddings: OpenAI's interface for vectors of texts.
#pragma once

#include "server/http/route.h"
#include "server/models/service.h"

namespace mynah::server {

[[nodiscard]] Route embeddings_route(Service& service);

}  // namespace mynah::server
