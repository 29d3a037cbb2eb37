#include "server/compat/piper.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "server/http/errors.h"
#include "server/http/json_text.h"
#include "server/speak/speech.h"
#include "store/families.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMostNoise = 10;
constexpr double kMostSpeakers = 100'000;

constexpr std::array<Field, 7> kPiperFields = {
    {{.name = "text", .help = "What is to be said.", .wanted = true},
     {.name = "voice",
      .help = "A voice or a model of one; none, or one that is not here: the best."},
     {.name = "speaker", .help = "Of a model of several: the name."},
     {.name = "speaker_id",
      .type = FieldType::Whole,
      .help = "Of a model of several: the number.",
      .most = kMostSpeakers},
     {.name = "length_scale",
      .type = FieldType::Number,
      .help = "How slow: 1 is the voice's own.",
      .least = 0.25,
      .most = 4},
     {.name = "noise_scale",
      .type = FieldType::Number,
      .help = "How much the sound varies.",
      .most = kMostNoise},
     {.name = "noise_w_scale",
      .type = FieldType::Number,
      .help = "How much the lengths of phonemes vary.",
      .most = kMostNoise}}};

// JSON, or a text as rhasspy/piper's server took it.
std::expected<FieldValues, FieldError> values_of(const Exchange& exchange) {
  const std::string& body = exchange.body().text;
  const bool json = exchange.head().headers.get("Content-Type").starts_with("application/json");
  if (!json && !trimmed(body).starts_with('{')) {
    const std::string text = json_text({{"text", body}});
    return FieldValues::of_json(kPiperFields, SentJson(text));
  }
  return FieldValues::of_json(kPiperFields, exchange.json());
}

SpeechRequest piper_request(const FieldValues& values) {
  SpeechRequest request;
  request.input = values.text("text");
  request.format = SoundFormat::Wav;
  request.delivery = SoundDelivery::Whole;
  request.options = client_speak_options();
  request.options.kind = TextKind::Plain;
  request.options.first_phonemes = 0;
  VoiceSettings& voice = request.options.voice;
  voice.speed = static_cast<float>(1 / values.number("length_scale", 1));
  if (values.has("noise_scale")) {
    voice.noise_scale = static_cast<float>(values.number("noise_scale", 0));
  }
  if (values.has("noise_w_scale")) {
    voice.noise_w = static_cast<float>(values.number("noise_w_scale", 0));
  }
  return request;
}

// Takes the speaker that was asked for, where the model has it.
void choose_speaker(const FieldValues& values, Speaking& speaking) {
  std::string speaker = values.text("speaker");
  if (values.has("speaker_id")) {
    speaker = fmt::format("{:.0f}", values.number("speaker_id", 0));
  }
  const VoiceModel& model = speaking.lease->synthesizer->model();
  if (model.voices().size() > 1 && !speaker.empty() && !is_voice_file(speaker) &&
      model.find_voice(speaker)) {
    speaking.voice = speaker;
  }
}

Result<Speaking> named_or_best(Service& service, const std::string& voice) {
  auto named = service.speaking({.model = {}, .voice = voice, .language = {}});
  if (named || voice.empty()) {
    return named;
  }
  return service.speaking({});
}

void synthesize(Service& service, const std::string& media_program, Exchange& exchange) {
  const auto values = values_of(exchange);
  if (!values) {
    exchange.answer(openai_error(values.error().error, values.error().field));
    return;
  }
  auto speaking = named_or_best(service, values->text("voice"));
  if (!speaking) {
    exchange.answer(openai_error(speaking.error(), "voice"));
    return;
  }
  choose_speaker(*values, *speaking);
  answer_speech(piper_request(*values), *speaking, media_program, exchange);
}

// What clients look at of a voice's config.
Json config_of(const std::string& language, const std::vector<std::string>& speakers) {
  std::string code = language;
  std::ranges::replace(code, '-', '_');
  Json numbers = Json::object();
  for (size_t i = 0; i < speakers.size(); ++i) {
    numbers[speakers[i]] = i;
  }
  return {{"language", {{"code", code}}},
          {"num_speakers", std::max<size_t>(speakers.size(), 1)},
          {"speaker_id_map", std::move(numbers)}};
}

void list_voices(const Service& service, Exchange& exchange) {
  Json voices = Json::object();
  for (const SpeechModel& model : service.speech_models()) {
    // Where a voice is a file with a config beside it people know it by the file's name.
    if (has_config(model.family)) {
      std::vector<std::string> speakers;
      std::ranges::transform(model.voices, std::back_inserter(speakers), &InstalledVoice::name);
      voices[model.name] = config_of(speakers.empty() ? "" : model.voices.front().language,
                                     speakers.size() > 1 ? speakers : std::vector<std::string>());
      continue;
    }
    for (const InstalledVoice& voice : model.voices) {
      voices[voice.name] = config_of(voice.language, {});
    }
  }
  exchange.answer({.body = json_text(voices) + "\n"});
}

}  // namespace

std::vector<Route> piper_routes(Service& service, const std::string& media_program) {
  std::vector<Route> routes;
  for (const char* path : {"/", "/synthesize"}) {
    routes.push_back(
        {.method = "POST",
         .path = path,
         .help = "Text to speech, as piper's server has it.",
         .handler = [&service, media_program](
                        Exchange& exchange) { synthesize(service, media_program, exchange); },
         .accepts = Accepts::Text,
         .rights = {Right::Speak},
         .fields = kPiperFields,
         .answers = "audio/wav"});
  }
  routes.push_back({.method = "GET",
                    .path = "/voices",
                    .help = "The voices that are here, as piper's server has it.",
                    .handler = [&service](Exchange& exchange) { list_voices(service, exchange); }});
  return routes;
}

}  // namespace mynah::server
