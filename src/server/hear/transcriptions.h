// Speech to text as OpenAI's API has it.
#pragma once

#include <vector>

#include "server/hear/heard_once.h"
#include "server/http/route.h"

namespace mynah::server {

// POST /v1/audio/transcriptions and /v1/audio/translations.
[[nodiscard]] std::vector<Route> transcription_routes(const HearingParts& parts);

}  // namespace mynah::server
