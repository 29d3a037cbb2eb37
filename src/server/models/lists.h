// What there is: models and voices, as clients' lists of choices want them.
#pragma once

#include "server/http/exchange.h"
#include "server/models/service.h"

namespace mynah::server {

// GET /v1/models, and /v1/models/{name}: OpenAI's list, with what each is for.
[[nodiscard]] Handler model_list(const Service& service);
[[nodiscard]] Handler one_model(const Service& service);

// GET /v1/audio/models and /v1/audio/voices: Open WebUI asks for both without a key, and takes
// names alone.
[[nodiscard]] Handler audio_models(const Service& service);
[[nodiscard]] Handler audio_voices(const Service& service);

}  // namespace mynah::server
