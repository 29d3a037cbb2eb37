// POST /v1/chat/completions and /v1/completions: texts that language models write, as OpenAI's API
// has it.
#pragma once

#include <vector>

#include "server/hear/heard_once.h"
#include "server/http/route.h"

namespace mynah::server {

[[nodiscard]] std::vector<Route> completion_routes(const HearingParts& parts);

}  // namespace mynah::server
