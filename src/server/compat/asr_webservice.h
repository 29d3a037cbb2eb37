// whisper-asr-webservice, as Bazarr and Subgen's users know it (ahmetoner/whisper-asr-webservice).
#pragma once

#include <vector>

#include "server/hear/heard_once.h"
#include "server/http/route.h"

namespace mynah::server {

// POST /asr; POST /detect-language: from probes that are spread over the recording, as the
// beginning of a film is often music; GET /status.
[[nodiscard]] std::vector<Route> asr_routes(const HearingParts& parts);

// {"detail": "..."}, as FastAPI tells errors.
[[nodiscard]] Response asr_error(const Error& error);

}  // namespace mynah::server
