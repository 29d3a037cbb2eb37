// Speech to text as OpenAI's API has it.
#pragma once

#include "server/http/exchange.h"
#include "server/models/service.h"
#include "speech/recognizer_options.h"

namespace mynah::server {

// POST /v1/audio/transcriptions and /v1/audio/translations. `media_program`: mynah-media; "":
// beside this program.
[[nodiscard]] Handler transcriptions(Service& service, Task task, std::string media_program);

}  // namespace mynah::server
