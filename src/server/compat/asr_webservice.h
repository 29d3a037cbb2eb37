// whisper-asr-webservice, as Bazarr and Subgen's users know it (ahmetoner/whisper-asr-webservice).
#pragma once

#include <string>

#include "server/http/exchange.h"
#include "server/models/service.h"

namespace mynah::server {

// POST /asr.
[[nodiscard]] Handler asr(Service& service, std::string media_program);

// POST /detect-language: from probes that are spread over the recording, as the beginning of a film
// is often music.
[[nodiscard]] Handler detect_language(Service& service, std::string media_program);

// {"detail": "..."}, as FastAPI tells errors.
[[nodiscard]] Response asr_error(const Error& error);

}  // namespace mynah::server
