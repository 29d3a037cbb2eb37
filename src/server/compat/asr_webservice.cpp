#include "server/compat/asr_webservice.h"

#include <algorithm>
#include <array>
#include <map>
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

Result<RecognizerOptions> options_of(const FormValues& query) {
  RecognizerOptions options;
  const std::string task = query.text("task");
  if (!task.empty() && task != "transcribe" && task != "translate") {
    return fail(ErrorCode::InvalidInput,
                fmt::format("task: wanted transcribe or translate, found '{}'", task));
  }
  options.decoding.task = task == "translate" ? Task::Translate : Task::Transcribe;
  const std::string language = query.text("language");
  options.decoding.language = language.empty() ? "auto" : language;
  options.cutting.initial_prompt = query.text("initial_prompt");
  MYNAH_TRY(const auto words, query.flag("word_timestamps"));
  options.decoding.words = words.value_or(false);
  MYNAH_TRY(const auto diarize, query.flag("diarize"));
  if (diarize.value_or(false)) {
    return fail(ErrorCode::Unsupported, "diarize: who speaks is not told apart yet");
  }
  return options;
}

void answer_asr(Service& service, const std::string& media_program, Exchange& exchange) {
  const FormValues query(exchange.head().query);
  const FormFile* const file = recording_of(exchange.body(), kFile);
  if (file == nullptr) {
    exchange.answer(asr_error({ErrorCode::InvalidInput, "audio_file: wanted a recording"}));
    return;
  }
  auto options = options_of(query);
  const auto encode = query.flag("encode");
  std::string output = query.text("output");
  output = output.empty() ? "txt" : output;
  const auto format = std::ranges::find(kFormats, output, &AsrFormat::name);
  Status asked;
  if (!options) {
    asked = std::unexpected(options.error());
  } else if (!encode) {
    asked = std::unexpected(encode.error());
  } else if (format == kFormats.end()) {
    asked = fail(ErrorCode::InvalidInput,
                 fmt::format("output: wanted txt, vtt, srt, tsv or json, found '{}'", output));
  }
  const auto hearing =
      asked ? service.hearing("") : Result<Hearing>(std::unexpected(asked.error()));
  if (!hearing) {
    exchange.answer(asr_error(hearing.error()));
    return;
  }
  options->decoding.words = options->decoding.words || output == "srt" || output == "vtt";
  const auto heard = hear_file(*file, audio_of(*file, encode->value_or(true), media_program),
                               *options, *hearing, exchange.stop());
  if (!heard) {
    exchange.answer(asr_error(heard.error()));
    return;
  }
  exchange.add_heard(heard->duration_s);
  WriterOptions writer;
  writer.cues = CueShape::Readable;
  Response response;
  response.type = std::string(format->type) + "; charset=utf-8";
  response.body = write_transcript(*heard, format->format, writer);
  response.headers.set("Asr-Engine", "mynah");
  response.headers.set("Content-Disposition",
                       fmt::format("attachment; filename=\"transcript.{}\"", output));
  name_hearing(*hearing, response);
  exchange.answer(std::move(response));
}

// Seconds of a recording; 0: not known.
Result<double> length_of(const FormFile& file, const AudioOpenOptions& audio) {
  MYNAH_TRY(const auto source, open_file(file, audio));
  return source->duration_s().value_or(0);
}

// How sure each language is, summed up over the probes.
Result<std::map<std::string, double>> probed(const FormFile& file, AudioOpenOptions audio,
                                             const Hearing& hearing, const std::stop_token& stop) {
  RecognizerOptions options;
  options.decoding.whisper.max_new_tokens = 1;  // the language is known before the first
  options.decoding.whisper.temperatures = {0.0F};
  MYNAH_TRY(const double length_s, length_of(file, audio));
  std::map<std::string, double> sure;
  audio.duration_s = kProbe_s;
  for (const double at : kProbes) {
    const bool is_short = length_s < kProbe_s * static_cast<double>(kProbes.size());
    audio.start_s = is_short ? 0 : at * (length_s - kProbe_s);
    MYNAH_TRY(const Transcript heard, hear_file(file, audio, options, hearing, stop));
    if (!heard.language.empty()) {
      sure[heard.language] += heard.language_probability;
    }
    if (is_short) {
      break;
    }
  }
  return sure;
}

void answer_language(Service& service, const std::string& media_program, Exchange& exchange) {
  const FormValues query(exchange.head().query);
  const FormFile* const file = recording_of(exchange.body(), kFile);
  const auto encode = query.flag("encode");
  if (file == nullptr || !encode) {
    exchange.answer(asr_error(encode
                                  ? Error{ErrorCode::InvalidInput, "audio_file: wanted a recording"}
                                  : encode.error()));
    return;
  }
  const auto hearing = service.hearing("");
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
  const auto sure = probed(*file, audio_of(*file, encode->value_or(true), media_program), *hearing,
                           exchange.stop());
  if (!sure) {
    exchange.answer(asr_error(sure.error()));
    return;
  }
  exchange.add_heard(kProbe_s * static_cast<double>(kProbes.size()));  // at most
  double all = 0;
  for (const auto& [code, probability] : *sure) {
    all += probability;
  }
  const auto best =
      std::ranges::max_element(*sure, {}, [](const auto& language) { return language.second; });
  if (best == sure->end() || all <= 0) {
    exchange.answer(asr_error({ErrorCode::InvalidInput, name_of(*file) + " has no speech in it"}));
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
  response.body = json_text(Json{{"detail", error.message}});
  return response;
}

Handler asr(Service& service, std::string media_program) {
  return [&service, media_program = std::move(media_program)](Exchange& exchange) {
    answer_asr(service, media_program, exchange);
  };
}

Handler detect_language(Service& service, std::string media_program) {
  return [&service, media_program = std::move(media_program)](Exchange& exchange) {
    answer_language(service, media_program, exchange);
  };
}

}  // namespace mynah::server
