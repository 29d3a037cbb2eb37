// What Kokoro-FastAPI's server has beside OpenAI's API (api/src/routers/development.py).
#pragma once

#include <string>
#include <vector>

#include "server/http/route.h"
#include "server/models/service.h"

namespace mynah::server {

// /dev/captioned_speech, /dev/phonemize, /dev/generate_from_phonemes, /dev/dialogue, /dev/unload,
// and /v1/audio/voices/combine, which is refused. `media_program` as of speech().
[[nodiscard]] std::vector<Route> kokoro_routes(Service& service, const std::string& media_program);

}  // namespace mynah::server
