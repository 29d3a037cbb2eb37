// A talk between several voices, as Kokoro-FastAPI has it.
#pragma once

#include <string>

#include "server/http/exchange.h"
#include "server/models/service.h"

namespace mynah::server {

// POST /dev/dialogue. `media_program` as of speech().
[[nodiscard]] Handler dialogue(Service& service, std::string media_program);

}  // namespace mynah::server
