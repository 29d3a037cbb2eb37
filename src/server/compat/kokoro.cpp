#include "server/compat/kokoro.h"

#include "server/http/errors.h"
#include "server/speak/captions.h"
#include "server/speak/dialogue.h"
#include "server/speak/phonemes.h"
#include "server/speak/speech_request.h"

namespace mynah::server {

std::vector<Route> kokoro_routes(Service& service, const std::string& media_program) {
  return {{.method = "POST",
           .path = "/dev/captioned_speech",
           .help = "Text to speech with each word's time.",
           .handler = captioned_speech(service, media_program),
           .accepts = Accepts::Text,
           .rights = {Right::Speak},
           .fields = captioned_fields(),
           .answers = "application/json application/x-ndjson"},
          {.method = "POST",
           .path = "/dev/dialogue",
           .help = "A talk between voices of one model.",
           .handler = dialogue(service, media_program),
           .accepts = Accepts::Text,
           .rights = {Right::Speak},
           .fields = dialogue_fields(),
           .answers = "audio/*"},
          {.method = "POST",
           .path = "/dev/phonemize",
           .help = "The phonemes of a text.",
           .handler = phonemize(service),
           .accepts = Accepts::Text,
           .rights = {Right::Speak},
           .fields = phonemize_fields()},
          {.method = "POST",
           .path = "/dev/generate_from_phonemes",
           .help = "Phonemes to speech.",
           .handler = speech_of_phonemes(service, media_program),
           .accepts = Accepts::Text,
           .rights = {Right::Speak},
           .fields = phonemes_fields(),
           .answers = "audio/*"},
          {.method = "POST",
           .path = "/dev/unload",
           .help = "Lets go of the models that nobody uses now.",
           .handler =
               [&service](Exchange& exchange) {
                 service.engine().unload();
                 exchange.answer({.body = "{\"status\":\"unloaded\"}\n"});
               },
           .rights = {Right::Models}},
          {.method = "POST",
           .path = "/v1/audio/voices/combine",
           .help = "Refused: voices are mixed in the request that is spoken.",
           .handler = [](Exchange& exchange) {
             exchange.answer(openai_error(
                 {ErrorCode::Unsupported,
                  "no voice is kept here: name the mix where it is to speak, such as \"voice\": "
                  "\"af_bella(2)+af_sky(1)\""},
                 "voice"));
           }}};
}

}  // namespace mynah::server
