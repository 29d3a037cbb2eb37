#include "server/hear/transcriptions.h"
#include "server/models/lists.h"
#include "server/operation/health.h"
#include "server/server.h"
#include "server/speak/speech.h"

namespace mynah::server {

std::vector<Route> all_routes(Service& service, const std::string& media_program) {
  return {
      {.method = "POST",
       .path = "/v1/audio/transcriptions",
       .help = "Speech to text, as OpenAI's API has it.",
       .handler = transcriptions(service, Task::Transcribe, media_program),
       .accepts = Accepts::Form},
      {.method = "POST",
       .path = "/v1/audio/translations",
       .help = "Speech to English text, as OpenAI's API has it.",
       .handler = transcriptions(service, Task::Translate, media_program),
       .accepts = Accepts::Form},
      {.method = "POST",
       .path = "/v1/audio/speech",
       .help = "Text to speech, as OpenAI's API has it.",
       .handler = speech(service, media_program),
       .accepts = Accepts::Text},
      {.method = "GET",
       .path = "/v1/audio/voices",
       .help = "The names of the voices that are here.",
       .handler = audio_voices(service),
       .open = Open::ToAll},
      {.method = "GET",
       .path = "/v1/audio/models",
       .help = "The names of the models that are here.",
       .handler = audio_models(service),
       .open = Open::ToAll},
      {.method = "GET",
       .path = "/v1/models",
       .help = "The models that are here.",
       .handler = model_list(service)},
      {.method = "GET",
       .path = "/v1/models/{name}",
       .help = "One of them.",
       .handler = one_model(service)},
      {.method = "GET",
       .path = "/health",
       .help = "Whether the server lives.",
       .handler = alive(),
       .open = Open::ToAll},
      {.method = "GET",
       .path = "/health/live",
       .help = "The same.",
       .handler = alive(),
       .open = Open::ToAll},
      {.method = "GET",
       .path = "/version",
       .help = "Which mynah this is.",
       .handler = version(),
       .open = Open::ToAll},
  };
}

}  // namespace mynah::server
