#include "server/compat/whisper_cpp.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server/hear/hear_file.h"
#include "server/http/errors.h"
#include "server/http/form.h"
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
  while (step > 0 && first + step * static_cast<double>(all.size()) < kMost) {
    all.push_back(static_cast<float>(first + step * static_cast<double>(all.size())));
  }
  return all;
}

Result<InferenceRequest> parse_inference(const Body& body) {
  const FormValues form(body.fields);
  InferenceRequest request;
  if (const std::string format = form.text("response_format"); !format.empty()) {
    request.format = format;
  }
  constexpr std::array<std::string_view, 5> kResponseFormats = {"json", "text", "srt", "vtt",
                                                                "verbose_json"};
  if (std::ranges::find(kResponseFormats, request.format) == kResponseFormats.end()) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("response_format: wanted json, text, srt, vtt or verbose_json, found "
                            "'{}'",
                            request.format));
  }
  DecodingOptions& decoding = request.options.decoding;
  CuttingOptions& cutting = request.options.cutting;
  const std::string language = form.text("language");
  decoding.language = language.empty() ? "auto" : language;
  MYNAH_TRY(const auto detect, form.flag("detect_language"));
  if (detect.value_or(false)) {
    decoding.language = "auto";
  }
  MYNAH_TRY(const auto translate, form.flag("translate"));
  decoding.task = translate.value_or(false) ? Task::Translate : Task::Transcribe;
  // Text has no times, cues have nothing else: it is no more than looked at.
  MYNAH_TRY([[maybe_unused]] const auto without_times, form.flag("no_timestamps"));
  MYNAH_TRY(const auto first, form.number("temperature", 0, 1));
  MYNAH_TRY(const auto step, form.number("temperature_inc", 0, 1));
  decoding.whisper.temperatures = temperatures_of(first.value_or(0), step.value_or(0.2));
  constexpr double kMostBeams = 100;
  MYNAH_TRY(const auto beams, form.number("beam_size", -1, kMostBeams));
  if (beams.value_or(-1) >= 1) {
    decoding.whisper.beam_size = static_cast<int>(*beams);
  }
  MYNAH_TRY(const auto best_of, form.number("best_of", -1, kMostBeams));
  if (best_of.value_or(-1) >= 1) {
    decoding.whisper.best_of = static_cast<int>(*best_of);
  }
  cutting.initial_prompt = form.text("prompt");
  MYNAH_TRY(const auto carries, form.flag("carry_initial_prompt"));
  cutting.carry_initial_prompt = carries.value_or(false);
  constexpr double kMost_ms = 1e10;
  MYNAH_TRY(const auto offset_ms, form.number("offset_t", 0, kMost_ms));
  MYNAH_TRY(const auto duration_ms, form.number("duration", 0, kMost_ms));
  if (offset_ms.value_or(0) > 0 || duration_ms.value_or(0) > 0) {
    const double start_s = offset_ms.value_or(0) / 1e3;
    const double length_s = duration_ms.value_or(0) > 0 ? *duration_ms / 1e3 : kMost_ms;
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

void infer(Service& service, const std::string& media_program, Exchange& exchange) {
  const FormFile* const file = recording_of(exchange.body(), "file");
  if (file == nullptr) {
    exchange.answer(whisper_cpp_error({ErrorCode::InvalidInput, "no 'file' field in the request"}));
    return;
  }
  const auto request = parse_inference(exchange.body());
  const auto hearing = request ? service.hearing(FormValues(exchange.body().fields).text("model"))
                               : Result<Hearing>(std::unexpected(request.error()));
  if (!hearing) {
    exchange.answer(whisper_cpp_error(hearing.error()));
    return;
  }
  AudioOpenOptions audio;
  audio.media_program = media_program;
  const auto heard = hear_file(*file, audio, request->options, *hearing, exchange.stop());
  if (!heard) {
    exchange.answer(whisper_cpp_error(heard.error()));
    return;
  }
  exchange.add_heard(heard->duration_s);
  WriterOptions writer;
  writer.cues = CueShape::Readable;
  Response response;
  name_hearing(*hearing, response);
  if (request->format == "json") {
    response.body = json_text({{"text", text_lines(*heard)}});
  } else if (request->format == "verbose_json") {
    response.body = verbose_json(*heard, writer);
  } else if (request->format == "text") {
    response.type = "text/html; charset=utf-8";
    response.body = text_lines(*heard);
  } else {
    const bool srt = request->format == "srt";
    response.type = srt ? "application/x-subrip" : "text/vtt";
    response.body =
        write_transcript(*heard, srt ? TranscriptFormat::Srt : TranscriptFormat::Vtt, writer);
  }
  exchange.answer(std::move(response));
}

}  // namespace

Response whisper_cpp_error(const Error& error) {
  Response response;
  response.status = error_status(error.code);
  response.body = json_text(Json{{"error", error.message}});
  return response;
}

Handler whisper_cpp_inference(Service& service, std::string media_program) {
  return [&service, media_program = std::move(media_program)](Exchange& exchange) {
    infer(service, media_program, exchange);
  };
}

Handler whisper_cpp_load(Service& service) {
  return [&service](Exchange& exchange) {
    const std::string model = FormValues(exchange.body().fields).text("model");
    const Status loaded = model.empty()
                              ? fail(ErrorCode::InvalidInput, "no 'model' field in the request")
                              : service.take_as_default(model);
    if (!loaded) {
      exchange.answer(whisper_cpp_error(loaded.error()));
      return;
    }
    exchange.answer({.type = "text/plain", .body = "Load was successful!"});
  };
}

}  // namespace mynah::server
