// Text to phonemes and phonemes to speech, and talk between voices, as Kokoro-FastAPI has them.
#pragma once

#include <string>

#include "server/http/exchange.h"
#include "server/http/fields.h"
#include "server/models/service.h"

namespace mynah::server {

// POST /dev/phonemize: {text, language}.
[[nodiscard]] Handler phonemize(Service& service);
[[nodiscard]] FieldTable phonemize_fields();

// POST /dev/generate_from_phonemes: {phonemes, voice}, answered as WAV. `media_program` as of
// speech().
[[nodiscard]] Handler speech_of_phonemes(Service& service, std::string media_program);
[[nodiscard]] FieldTable phonemes_fields();

}  // namespace mynah::server
