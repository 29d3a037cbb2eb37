#include "server/operation/routes.h"

#include <algorithm>
#include <iterator>

#include "server/chat/completions.h"
#include "server/chat/embeddings.h"
#include "server/chat/responses.h"
#include "server/compat/asr_webservice.h"
#include "server/compat/kokoro.h"
#include "server/compat/ollama.h"
#include "server/compat/piper.h"
#include "server/compat/whisper_cpp.h"
#include "server/elsewhere/elsewhere.h"
#include "server/hear/transcriptions.h"
#include "server/jobs/job_routes.h"
#include "server/models/changes.h"
#include "server/models/lists.h"
#include "server/openapi.h"
#include "server/operation/health.h"
#include "server/page/page.h"
#include "server/realtime/secrets.h"
#include "server/realtime/session.h"
#include "server/server.h"
#include "server/speak/speech.h"

namespace mynah::server {

std::vector<Route> all_routes(const RouteNeeds& needs) {
  Service& service = needs.service;
  const std::string& media_program = needs.media_program;
  std::vector<Route> routes = {
      {.method = "POST",
       .path = "/v1/audio/speech",
       .help = "Text to speech, as OpenAI's API has it.",
       .handler = speech(service, media_program),
       .accepts = Accepts::Text,
       .rights = {Right::Speak},
       .fields = speech_fields(),
       .answers = "audio/* text/event-stream"},
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
  std::ranges::move(operation_routes(service), std::back_inserter(routes));
  const HearingParts parts{.service = &service,
                           .once = service.shares_texts() ? std::make_shared<HeardOnce>() : nullptr,
                           .media_program = media_program};
  std::ranges::move(or_as_jobs(needs.jobs, transcription_routes(parts)),
                    std::back_inserter(routes));
  std::ranges::move(job_routes(needs.jobs), std::back_inserter(routes));
  std::ranges::move(completion_routes(parts), std::back_inserter(routes));
  routes.push_back(responses_route(parts));
  routes.push_back(embeddings_route(service));
  std::ranges::move(whisper_cpp_routes(parts), std::back_inserter(routes));
  std::ranges::move(asr_routes(parts), std::back_inserter(routes));
  std::ranges::move(model_change_routes(service), std::back_inserter(routes));
  std::ranges::move(kokoro_routes(service, media_program), std::back_inserter(routes));
  std::ranges::move(ollama_routes(service), std::back_inserter(routes));
  std::ranges::move(piper_routes(service, media_program), std::back_inserter(routes));
  std::ranges::move(realtime_routes(service, needs.turns), std::back_inserter(routes));
  std::ranges::move(client_secret_routes(needs.secrets), std::back_inserter(routes));
  std::ranges::move(page_routes(needs.framed), std::back_inserter(routes));
  std::ranges::move(elsewhere_routes(service), std::back_inserter(routes));
  routes.push_back(openapi_route(routes));  // the last, as it describes the others
  return routes;
}

}  // namespace mynah::server
