#include "server/speak/phonemes.h"

#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "server/http/errors.h"
#include "server/http/json_text.h"
#include "server/speak/speech.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<Field, 3> kPhonemizeFields = {
    {{.name = "text", .help = "What is to be read.", .wanted = true},
     {.name = "language", .help = "A tag such as en-GB, or one of Kokoro's letters; none: en-US."},
     {.name = "voice",
      .type = FieldType::Voice,
      .help = "Whose phonemes; none: those of the best voice for the language."}}};

constexpr std::array<Field, 4> kPhonemesFields = {
    {{.name = "phonemes", .help = "In the voice's alphabet, words between spaces.", .wanted = true},
     {.name = "voice", .type = FieldType::Voice, .help = "A voice; none: the best here."},
     {.name = "speed",
      .type = FieldType::Number,
      .help = "1 is the voice's own.",
      .least = 0.25,
      .most = 4},
     {.name = "response_format", .help = "wav.", .choices = "mp3 opus aac flac wav pcm"}}};

void answer_phonemes(Service& service, Exchange& exchange) {
  const auto values = FieldValues::of_json(kPhonemizeFields, exchange.json());
  if (!values) {
    exchange.answer(openai_error(values.error().error, values.error().field));
    return;
  }
  SpeakOptions options = client_speak_options();
  options.language = language_of_code(values->has("language") ? values->text("language") : "a");
  const auto speaking =
      service.speaking({.model = {}, .voice = values->text("voice"), .language = options.language});
  if (!speaking) {
    exchange.answer(openai_error(speaking.error(), values->has("voice") ? "voice" : "language"));
    return;
  }
  options.voice.voice = speaking->voice;
  const auto phonemes =
      speaking->lease->synthesizer->phonemes(values->text("text"), options, exchange.stop());
  if (!phonemes) {
    exchange.answer(openai_error(phonemes.error(), "text"));
    return;
  }
  Response response;
  // Numbers of phonemes are a model's own affair: Kokoro-FastAPI tells none either.
  response.body = json_text({{"phonemes", *phonemes}, {"tokens", Json::array()}}) + "\n";
  response.headers.set("X-Mynah-Model", speaking->name);
  exchange.answer(std::move(response));
}

}  // namespace

FieldTable phonemize_fields() {
  return kPhonemizeFields;
}

FieldTable phonemes_fields() {
  return kPhonemesFields;
}

Handler phonemize(Service& service) {
  return [&service](Exchange& exchange) { answer_phonemes(service, exchange); };
}

Handler speech_of_phonemes(Service& service, std::string media_program) {
  return [&service, media_program = std::move(media_program)](Exchange& exchange) {
    const auto values = FieldValues::of_json(kPhonemesFields, exchange.json());
    if (!values) {
      exchange.answer(openai_error(values.error().error, values.error().field));
      return;
    }
    SpeechRequest request;
    request.input = values->text("phonemes");
    request.voice = values->text("voice");
    request.format = sound_format_by(values->text("response_format"), SoundFormat::Wav);
    request.options = client_speak_options();
    request.options.kind = TextKind::Phonemes;
    request.options.voice.speed = static_cast<float>(values->number("speed", 1));
    answer_speech(service, request, media_program, exchange);
  };
}

}  // namespace mynah::server
