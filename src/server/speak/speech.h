// Text to speech as OpenAI's API has it.
#pragma once

#include <string>

#include "server/http/exchange.h"
#include "server/models/service.h"

namespace mynah::server {

// POST /v1/audio/speech. `media_program`: mynah-media, for AAC; "": beside this program.
[[nodiscard]] Handler speech(Service& service, std::string media_program);

}  // namespace mynah::server
