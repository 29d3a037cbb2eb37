// POST /v1/responses: OpenAI's Responses API in its text part.
#pragma once

#include "server/hear/heard_once.h"
#include "server/http/route.h"

namespace mynah::server {

[[nodiscard]] Route responses_route(const HearingParts& parts);

}  // namespace mynah::server
