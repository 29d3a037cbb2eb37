#include "server/compat/whisper_cpp.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server/hear/fillers.h"
#include "server/hear/hear_file.h"
#include "server/http/errors.h"
#include "server/http/json_text.h"
#include "speech/writers.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

struct InferenceRequest {
  std::string format = "json";
  RecognizerOptions options;
};

// The ladder of temperatures from the first one up, as whisper.cpp climbs it.
std::vector<float> temperatures_of(double first, double step) {
  std::vector<float> all = {static_cast<float>(first)};
  constexpr double kMost = 1.0 + 1e-6;
  constexpr size_t kMostTries = 21;  // each of them decodes the window once more
  while (step > 0 && all.size() < kMostTries &&
         first + step * static_cast<double>(all.size()) < kMost) {
    all.push_back(static_cast<float>(first + step * static_cast<double>(all.size())));
  }
  return all;
}

constexpr double kMostBeams = 100;
constexpr double kMost_ms = 1e10;

// examples/server/README.md; what it has beside these is passed over.
constexpr std::array<Field, 15> kInferenceFields = {
    {{.name = "file", .type = FieldType::File, .help = "The recording.", .wanted = true},
     {.name = "model", .help = "A model that is here; none: the server's."},
     {.name = "response_format", .help = "json.", .choices = "json text srt vtt verbose_json"},
     {.name = "language", .help = "A code such as en; none, or auto: it is found out."},
     {.name = "detect_language", .type = FieldType::Flag, .help = "The language is found out."},
     {.name = "translate", .type = FieldType::Flag, .help = "The text is English."},
     // Text has no times, cues have nothing else: it is no more than looked at.
     {.name = "no_timestamps", .type = FieldType::Flag, .help = "Ignored.", .ignored = true},
     {.name = "temperature", .type = FieldType::Number, .help = "The first tried.", .most = 1},
     {.name = "temperature_inc",
      .type = FieldType::Number,
      .help = "How much more is tried next, where the text is doubtful.",
      .most = 1},
     {.name = "beam_size",
      .type = FieldType::Number,
      .help = "Beams; -1: the model's own.",
      .least = -1,
      .most = kMostBeams},
     {.name = "best_of",
      .type = FieldType::Number,
      .help = "Samples at a temperature; -1: the model's own.",
      .least = -1,
      .most = kMostBeams},
     {.name = "prompt", .help = "What the text may go on from."},
     {.name = "carry_initial_prompt",
      .type = FieldType::Flag,
      .help = "The prompt is for every window."},
     {.name = "offset_t",
      .type = FieldType::Number,
      .help = "Milliseconds to leave out.",
      .most = kMost_ms},
     {.name = "duration",
      .type = FieldType::Number,
      .help = "Milliseconds to hear; 0: all.",
      .most = kMost_ms}}};

InferenceRequest inference_of(const FieldValues& form) {
  InferenceRequest request;
  if (form.has("response_format")) {
    request.format = form.text("response_format");
  }
  DecodingOptions& decoding = request.options.decoding;
  CuttingOptions& cutting = request.options.cutting;
  decoding.language =
      form.has("language") && !form.flag("detect_language", false) ? form.text("language") : "auto";
  decoding.task = form.flag("translate", false) ? Task::Translate : Task::Transcribe;
  decoding.whisper.temperatures =
      temperatures_of(form.number("temperature", 0), form.number("temperature_inc", 0.2));
  if (const double beams = form.number("beam_size", -1); beams >= 1) {
    decoding.whisper.beam_size = static_cast<int>(beams);
  }
  if (const double best_of = form.number("best_of", -1); best_of >= 1) {
    decoding.whisper.best_of = static_cast<int>(best_of);
  }
  cutting.initial_prompt = form.text("prompt");
  cutting.carry_initial_prompt = form.flag("carry_initial_prompt", false);
  const double offset_ms = form.number("offset_t", 0);
  const double duration_ms = form.number("duration", 0);
  if (offset_ms > 0 || duration_ms > 0) {
    const double start_s = offset_ms / 1e3;
    const double length_s = duration_ms > 0 ? duration_ms / 1e3 : kMost_ms;
    cutting.clips = {{.start_s = start_s, .end_s = start_s + length_s}};
  }
  decoding.words =
      request.format == "verbose_json" || request.format == "srt" || request.format == "vtt";
  return request;
}

// One line a segment, as that server writes text.
std::string text_lines(const Transcript& transcript) {
  std::string text;
  for (const Segment& segment : transcript.segments) {
    text += segment.text + "\n";
  }
  return text;
}

std::string verbose_json(const Transcript& transcript, const WriterOptions& writer) {
  Json json = Json::parse(transcript_json_line(transcript, writer));
  json["task"] = transcript.task;
  json["language"] = language_name(transcript.language);
  json["text"] = text_lines(transcript);
  json["detected_language"] = language_name(transcript.language);
  json["detected_language_probability"] = transcript.language_probability;
  return json_text(json);
}

void infer(const HearingParts& parts, Exchange& exchange) {
  const FormFile* const file = recording_of(exchange.body(), "file");
  if (file == nullptr) {
    exchange.answer(whisper_cpp_error({ErrorCode::InvalidInput, "no 'file' field in the request"}));
    return;
  }
  const auto values = FieldValues::of_form(kInferenceFields, exchange.body().fields);
  const auto hearing = values ? parts.service->hearing(values->text("model"))
                              : Result<Hearing>(std::unexpected(values.error().error));
  if (!hearing) {
    exchange.answer(whisper_cpp_error(hearing.error()));
    return;
  }
  const InferenceRequest request = inference_of(*values);
  AudioOpenOptions audio;
  audio.media_program = parts.media_program;
  Response response;
  name_hearing(*hearing, response);
  if (request.format == "json" || request.format == "verbose_json") {
    fill_json(exchange, response);  // subtitles and texts begin with their first letter
  }
  HeardOnce::From from{};
  const auto heard =
      hear_once(parts.once.get(), exchange, *file, audio, request.options, *hearing, from);
  if (!heard) {
    exchange.answer(whisper_cpp_error(heard.error()));
    return;
  }
  WriterOptions writer;
  writer.cues = CueShape::Readable;
  name_hearing(*hearing, response);  // it may have gone on elsewhere
  name_source(from, response);
  if (request.format == "json") {
    response.body = json_text({{"text", text_lines(*heard)}});
  } else if (request.format == "verbose_json") {
    response.body = verbose_json(*heard, writer);
  } else if (request.format == "text") {
    response.type = "text/html; charset=utf-8";
    response.body = text_lines(*heard);
  } else {
    const bool srt = request.format == "srt";
    response.type = srt ? "application/x-subrip" : "text/vtt";
    response.body =
        write_transcript(*heard, srt ? TranscriptFormat::Srt : TranscriptFormat::Vtt, writer);
  }
  exchange.answer(std::move(response));
}

constexpr std::array<Field, 1> kLoadFields = {
    {{.name = "model", .help = "A model that is here.", .wanted = true}}};

void load(Service& service, Exchange& exchange) {
  const auto values = FieldValues::of_form(kLoadFields, exchange.body().fields);
  if (!values) {
    exchange.answer(
        whisper_cpp_error({ErrorCode::InvalidInput, "no 'model' field in the request"}));
    return;
  }
  if (const Status loaded = service.take_as_default(values->text("model")); !loaded) {
    exchange.answer(whisper_cpp_error(loaded.error()));
    return;
  }
  exchange.answer({.type = "text/plain", .body = "Load was successful!"});
}

}  // namespace

Response whisper_cpp_error(const Error& error) {
  Response response;
  response.status = error_status(error.code);
  response.body = json_text(Json{{"error", client_message(error)}});
  return response;
}

std::vector<Route> whisper_cpp_routes(const HearingParts& parts) {
  return {{.method = "POST",
           .path = "/inference",
           .help = "Speech to text, as whisper.cpp's server has it.",
           .handler = [parts](Exchange& exchange) { infer(parts, exchange); },
           .accepts = Accepts::Form,
           .rights = {Right::Hear},
           .fields = kInferenceFields,
           .answers = "application/json text/html application/x-subrip text/vtt"},
          {.method = "POST",
           .path = "/load",
           .help = "The model that is meant where none is named, as whisper.cpp's server has it.",
           .handler = [service = parts.service](Exchange& exchange) { load(*service, exchange); },
           .accepts = Accepts::Form,
           .rights = {Right::Models},
           .fields = kLoadFields,
           .answers = "text/plain"}};
}

}  // namespace mynah::server
