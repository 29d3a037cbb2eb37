#include "server/operation/routes.h"

#include <algorithm>
#include <iterator>

#include "server/compat/asr_webservice.h"
#include "server/compat/kokoro.h"
#include "server/compat/piper.h"
#include "server/compat/whisper_cpp.h"
#include "server/hear/transcriptions.h"
#include "server/models/lists.h"
#include "server/operation/health.h"
#include "server/page/page.h"
#include "server/server.h"
#include "server/speak/speech.h"

namespace mynah::server {

std::vector<Route> all_routes(Service& service, const std::string& media_program) {
  std::vector<Route> routes = {
      {.method = "POST",
       .path = "/v1/audio/transcriptions",
       .help = "Speech to text, as OpenAI's API has it.",
       .handler = transcriptions(service, Task::Transcribe, media_program),
       .accepts = Accepts::Form,
       .rights = {Right::Hear}},
      {.method = "POST",
       .path = "/v1/audio/translations",
       .help = "Speech to English text, as OpenAI's API has it.",
       .handler = transcriptions(service, Task::Translate, media_program),
       .accepts = Accepts::Form,
       .rights = {Right::Hear}},
      {.method = "POST",
       .path = "/v1/audio/speech",
       .help = "Text to speech, as OpenAI's API has it.",
       .handler = speech(service, media_program),
       .accepts = Accepts::Text,
       .rights = {Right::Speak},
       .fields = speech_fields()},
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
      {.method = "POST",
       .path = "/inference",
       .help = "Speech to text, as whisper.cpp's server has it.",
       .handler = whisper_cpp_inference(service, media_program),
       .accepts = Accepts::Form,
       .rights = {Right::Hear}},
      {.method = "POST",
       .path = "/load",
       .help = "The model that is meant where none is named, as whisper.cpp's server has it.",
       .handler = whisper_cpp_load(service),
       .accepts = Accepts::Form,
       .rights = {Right::Models}},
      {.method = "POST",
       .path = "/asr",
       .help = "Speech to text, as whisper-asr-webservice has it.",
       .handler = asr(service, media_program),
       .accepts = Accepts::Form,
       .rights = {Right::Hear}},
      {.method = "POST",
       .path = "/detect-language",
       .help = "The language of a recording, as whisper-asr-webservice has it.",
       .handler = detect_language(service, media_program),
       .accepts = Accepts::Form,
       .rights = {Right::Hear}},
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
  std::ranges::move(kokoro_routes(service, media_program), std::back_inserter(routes));
  std::ranges::move(piper_routes(service, media_program), std::back_inserter(routes));
  std::ranges::move(page_routes(), std::back_inserter(routes));
  return routes;
}

}  // namespace mynah::server
