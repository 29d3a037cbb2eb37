#include "server/compat/asr_webservice.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server/hear/fillers.h"
#include "server/hear/hear_file.h"
#include "server/http/errors.h"
#include "server/http/json_text.h"
#include "server/operation/health.h"
#include "speech/writers.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFile = "audio_file";
constexpr double kProbe_s = 30;  // Whisper's window

// Where in a recording its language is listened to.
constexpr std::array<double, 3> kProbes = {0.1, 0.5, 0.9};

struct AsrFormat {
  std::string_view name;
  TranscriptFormat format;
  std::string_view type;
};

constexpr std::array<AsrFormat, 5> kFormats = {
    {{"txt", TranscriptFormat::Txt, "text/plain"},
     {"vtt", TranscriptFormat::Vtt, "text/plain"},
     {"srt", TranscriptFormat::Srt, "text/plain"},
     {"tsv", TranscriptFormat::Tsv, "text/plain"},
     {"json", TranscriptFormat::Json, "application/json"}}};

// Bazarr sends samples without a header, and says encode=false.
AudioOpenOptions audio_of(const FormFile& file, bool encode, const std::string& media_program) {
  AudioOpenOptions audio;
  audio.media_program = media_program;
  if (!encode && !file.bytes.starts_with("RIFF")) {
    audio.raw = AudioOpenOptions::Raw();
  }
  return audio;
}

constexpr Field kRecording = {
    .name = kFile, .type = FieldType::File, .help = "The recording.", .wanted = true};
constexpr Field kEncode = {.name = "encode",
                           .type = FieldType::Flag,
                           .help = "False: it is samples without a header, 16 kHz, 16 bits, mono."};
// Bazarr's name of the film: what is sent tells enough.
constexpr Field kVideo = {.name = "video_file", .help = "Ignored.", .ignored = true};

// Of the query, as the recording alone is in the body.
constexpr std::array<Field, 12> kAsrFields = {
    {kRecording,
     {.name = "task", .help = "transcribe.", .choices = "transcribe translate"},
     {.name = "language", .help = "A code such as en; none: it is found out."},
     {.name = "initial_prompt", .help = "What the text may go on from."},
     {.name = "word_timestamps", .type = FieldType::Flag, .help = "Words have times too."},
     {.name = "output", .help = "txt.", .choices = "txt vtt srt tsv json"},
     kEncode,
     {.name = "diarize", .type = FieldType::Flag, .help = "Refused where it is true."},
     {.name = "vad_filter", .type = FieldType::Flag, .help = "Ignored.", .ignored = true},
     {.name = "min_speakers", .help = "Ignored.", .ignored = true},
     {.name = "max_speakers", .help = "Ignored.", .ignored = true},
     kVideo}};

constexpr std::array<Field, 3> kDetectFields = {{kRecording, kEncode, kVideo}};

RecognizerOptions options_of(const FieldValues& query) {
  RecognizerOptions options;
  options.decoding.task = query.text("task") == "translate" ? Task::Translate : Task::Transcribe;
  options.decoding.language = query.has("language") ? query.text("language") : "auto";
  options.cutting.initial_prompt = query.text("initial_prompt");
  const std::string output = query.text("output");
  options.decoding.words =
      query.flag("word_timestamps", false) || output == "srt" || output == "vtt";
  return options;
}

// What the query says, where there is a recording.
Result<FieldValues> query_of(const Exchange& exchange, FieldTable table) {
  if (recording_of(exchange.body(), kFile) == nullptr) {
    return fail(ErrorCode::InvalidInput, "audio_file: wanted a recording");
  }
  auto values = FieldValues::of_form(table, exchange.head().query);
  if (!values) {
    return std::unexpected(std::move(values).error().error);
  }
  return *std::move(values);
}

void answer_asr(const HearingParts& parts, Exchange& exchange) {
  const auto query = query_of(exchange, kAsrFields);
  if (!query) {
    exchange.answer(asr_error(query.error()));
    return;
  }
  if (query->flag("diarize", false)) {
    exchange.answer(
        asr_error({ErrorCode::Unsupported, "diarize: who speaks is not told apart yet"}));
    return;
  }
  const auto hearing = parts.service->hearing("");
  if (!hearing) {
    exchange.answer(asr_error(hearing.error()));
    return;
  }
  const std::string output = query->has("output") ? query->text("output") : "txt";
  const auto format = std::ranges::find(kFormats, output, &AsrFormat::name);
  Response response;
  response.type = std::string(format->type) + "; charset=utf-8";
  response.headers.set("Asr-Engine", "mynah");
  response.headers.set("Content-Disposition",
                       fmt::format("attachment; filename=\"transcript.{}\"", output));
  name_hearing(*hearing, response);
  if (format->format == TranscriptFormat::Json) {
    fill_json(exchange, response);  // subtitles and texts begin with their first letter
  }
  const FormFile& file = *recording_of(exchange.body(), kFile);
  HeardOnce::From from{};
  const auto heard = hear_once(parts.once.get(), exchange, file,
                               audio_of(file, query->flag("encode", true), parts.media_program),
                               options_of(*query), *hearing, from);
  if (!heard) {
    exchange.answer(asr_error(heard.error()));
    return;
  }
  WriterOptions writer;
  writer.cues = CueShape::Readable;
  response.body = write_transcript(*heard, format->format, writer);
  name_hearing(*hearing, response);  // it may have gone on elsewhere
  name_source(from, response);
  exchange.answer(std::move(response));
}

// How sure each language is, summed up over the probes.
Result<std::map<std::string, double>> probed(HeardOnce* once, const Exchange& exchange,
                                             const FormFile& file, AudioOpenOptions audio,
                                             const Hearing& hearing) {
  RecognizerOptions options;
  options.decoding.whisper.max_new_tokens = 1;  // the language is known before the first
  options.decoding.whisper.temperatures = {0.0F};
  MYNAH_TRY(const double length_s, length_of(file, audio));
  std::map<std::string, double> sure;
  audio.duration_s = kProbe_s;
  for (const double at : kProbes) {
    const bool is_short = length_s < kProbe_s * static_cast<double>(kProbes.size());
    audio.start_s = is_short ? 0 : at * (length_s - kProbe_s);
    HeardOnce::From from{};
    MYNAH_TRY(const Transcript heard,
              hear_once(once, exchange, file, audio, options, hearing, from));
    if (!heard.language.empty()) {
      sure[heard.language] += heard.language_probability;
    }
    if (is_short) {
      break;
    }
  }
  return sure;
}

void answer_language(const HearingParts& parts, Exchange& exchange) {
  const auto query = query_of(exchange, kDetectFields);
  if (!query) {
    exchange.answer(asr_error(query.error()));
    return;
  }
  const auto hearing = parts.service->hearing("");
  if (!hearing) {
    exchange.answer(asr_error(hearing.error()));
    return;
  }
  if (!hearing->lease->recognizer->multilingual()) {
    exchange.answer(asr_error(
        {ErrorCode::Unsupported,
         hearing->name + " knows English only: languages are told apart by another, such as "
                         "small, that the server was started with"}));
    return;
  }
  const FormFile& file = *recording_of(exchange.body(), kFile);
  const auto sure =
      probed(parts.once.get(), exchange, file,
             audio_of(file, query->flag("encode", true), parts.media_program), *hearing);
  if (!sure) {
    exchange.answer(asr_error(sure.error()));
    return;
  }
  double all = 0;
  for (const auto& [code, probability] : *sure) {
    all += probability;
  }
  const auto best =
      std::ranges::max_element(*sure, {}, [](const auto& language) { return language.second; });
  if (best == sure->end() || all <= 0) {
    exchange.answer(asr_error({ErrorCode::InvalidInput, name_of(file) + " has no speech in it"}));
    return;
  }
  Response response;
  response.body = Json{{"detected_language", language_name(best->first)},
                       {"language_code", best->first},
                       {"confidence", best->second / all}}
                      .dump();
  name_hearing(*hearing, response);
  exchange.answer(std::move(response));
}

}  // namespace

Response asr_error(const Error& error) {
  Response response;
  response.status = error_status(error.code);
  response.body = json_text(Json{{"detail", client_message(error)}});
  return response;
}

std::vector<Route> asr_routes(const HearingParts& parts) {
  return {{.method = "GET",
           .path = "/status",
           .help = "Which mynah this is, as Bazarr asks it.",
           .handler = version(),
           .open = Open::ToAll},
          {.method = "POST",
           .path = "/asr",
           .help = "Speech to text, as whisper-asr-webservice has it.",
           .handler = [parts](Exchange& exchange) { answer_asr(parts, exchange); },
           .accepts = Accepts::Form,
           .rights = {Right::Hear},
           .fields = kAsrFields,
           .in_query = true,
           .answers = "text/plain application/json"},
          {.method = "POST",
           .path = "/detect-language",
           .help = "The language of a recording, as whisper-asr-webservice has it.",
           .handler = [parts](Exchange& exchange) { answer_language(parts, exchange); },
           .accepts = Accepts::Form,
           .rights = {Right::Hear},
           .fields = kDetectFields,
           .in_query = true}};
}

}  // namespace mynah::server
