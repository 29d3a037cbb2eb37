// Text to speech as OpenAI's API has it.
#pragma once

#include <string>

#include "server/http/exchange.h"
#include "server/models/service.h"
#include "server/speak/speech_request.h"

namespace mynah::server {

// POST /v1/audio/speech. `media_program`: mynah-media, for AAC; "": beside this program.
[[nodiscard]] Handler speech(Service& service, std::string media_program);

// Answers a request with its sound, as that says.
void answer_speech(const SpeechRequest& request, const Speaking& speaking,
                   const std::string& media_program, Exchange& exchange);

// The same; the voice is looked for.
void answer_speech(Service& service, const SpeechRequest& request, const std::string& media_program,
                   Exchange& exchange);

}  // namespace mynah::server
