// Text to speech with each word's time, as Kokoro-FastAPI has it.
#pragma once

#include <string>

#include "server/http/exchange.h"
#include "server/models/service.h"

namespace mynah::server {

// POST /dev/captioned_speech: an object {audio, audio_format, timestamps}, or a line of JSON for
// each piece of the sound (NDJSON) while it is computed. `media_program` as of speech().
[[nodiscard]] Handler captioned_speech(Service& service, std::string media_program);

}  // namespace mynah::server
