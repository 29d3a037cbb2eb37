#include "server/hear/transcription_request.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server/http/form.h"
#include "server/http/json_text.h"
#include "speech/hotwords.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

struct AnswerName {
  std::string_view name;
  TranscriptAnswer answer;
};

constexpr std::array<AnswerName, 5> kAnswers = {{{"json", TranscriptAnswer::Json},
                                                 {"text", TranscriptAnswer::Text},
                                                 {"srt", TranscriptAnswer::Srt},
                                                 {"vtt", TranscriptAnswer::Vtt},
                                                 {"verbose_json", TranscriptAnswer::VerboseJson}}};

constexpr std::array<Field, 13> kFields = {
    {{.name = "file", .type = FieldType::File, .help = "The recording.", .wanted = true},
     {.name = "model", .help = "A model that is here, or one of OpenAI's; none: the server's."},
     {.name = "response_format", .help = "json.", .choices = "json text srt vtt verbose_json"},
     {.name = "stream",
      .type = FieldType::Flag,
      .help = "The text comes as it is heard, in server-sent events."},
     {.name = "language", .help = "A code such as en; none: it is found out."},
     {.name = "languages",
      .type = FieldType::Texts,
      .help = "The same; more than one: it is found out."},
     {.name = "prompt", .help = "What the text may go on from."},
     {.name = "hotwords", .type = FieldType::Texts, .help = "Words that may be said."},
     {.name = "keywords", .type = FieldType::Texts, .help = "The same."},
     {.name = "temperature",
      .type = FieldType::Number,
      .help = "0: the best one is found out.",
      .most = 1},
     {.name = "timestamp_granularities", .type = FieldType::Texts, .help = "word, segment."},
     {.name = "include", .type = FieldType::Texts, .help = "logprobs: how sure each token is."},
     {.name = "chunking_strategy",
      .type = FieldType::Any,
      .help = "auto, or server_vad with threshold, prefix_padding_ms and silence_duration_ms."}}};

// The pauses at which a recording is cut: "auto", or server_vad with figures of its own, as JSON or
// as fields with brackets (openai-python writes nested objects so).
Status read_chunking(const FormValues& form, VadOptions& vad) {
  struct Figure {
    std::string_view name;
    double least;
    double most;
    int VadOptions::* milliseconds;
  };

  const std::string given = form.text("chunking_strategy");
  FormValues::Fields fields;
  if (given.starts_with('{')) {
    const Json object = parse_object(given);
    if (!object.is_object()) {
      return fail(ErrorCode::InvalidInput,
                  "chunking_strategy: wanted auto or an object of type server_vad, found other "
                  "text");
    }
    for (const auto& [name, value] : object.items()) {
      fields.emplace_back(name, value.is_string() ? value.get<std::string>() : value.dump());
    }
  } else {
    for (const char* name : {"type", "threshold", "prefix_padding_ms", "silence_duration_ms"}) {
      fields.emplace_back(name, form.text(fmt::format("chunking_strategy[{}]", name)));
    }
  }
  const FormValues inner(fields);
  const std::string type = given.empty() || given.starts_with('{') ? inner.text("type") : given;
  if (!type.empty() && type != "auto" && type != "server_vad") {
    return fail(ErrorCode::InvalidInput,
                fmt::format("chunking_strategy: wanted auto or server_vad, found '{}'", type));
  }
  MYNAH_TRY(const auto threshold, inner.number("threshold", 0, 1));
  vad.threshold = static_cast<float>(threshold.value_or(vad.threshold));
  constexpr double kMost_ms = 60'000;
  MYNAH_TRY(const auto pad, inner.number("prefix_padding_ms", 0, kMost_ms));
  vad.speech_pad_ms = static_cast<int>(pad.value_or(vad.speech_pad_ms));
  MYNAH_TRY(const auto silence, inner.number("silence_duration_ms", 0, kMost_ms));
  vad.min_silence_ms = static_cast<int>(silence.value_or(vad.min_silence_ms));
  return {};
}

}  // namespace

std::string_view name(TranscriptAnswer answer) {
  return std::ranges::find(kAnswers, answer, &AnswerName::answer)->name;
}

std::optional<TranscriptAnswer> parse_answer(std::string_view name) {
  const auto found = std::ranges::find(kAnswers, name, &AnswerName::name);
  return found == kAnswers.end() ? std::nullopt : std::optional(found->answer);
}

FieldTable transcription_fields() {
  return kFields;
}

std::expected<TranscriptionRequest, FieldError> parse_transcription(const Body& body, Task task) {
  const FormValues raw(body.fields);
  if (raw.text("response_format") == "diarized_json") {
    return std::unexpected(FieldError{
        .field = "response_format",
        .error = {ErrorCode::Unsupported,
                  "response_format diarized_json: who speaks is not told apart yet; wanted json, "
                  "text, srt, vtt or verbose_json"}});
  }
  MYNAH_TRY(const FieldValues form, FieldValues::of_form(kFields, body.fields));
  TranscriptionRequest request;
  request.model = form.text("model");
  request.answer = parse_answer(form.text("response_format")).value_or(TranscriptAnswer::Json);
  request.stream = form.flag("stream", false);
  for (const std::string& include : form.texts("include")) {
    request.log_probabilities = request.log_probabilities || include == "logprobs";
  }
  DecodingOptions& decoding = request.options.decoding;
  CuttingOptions& cutting = request.options.cutting;
  decoding.task = task;
  const auto languages = form.texts("languages");
  if (form.has("language")) {
    decoding.language = form.text("language");
  } else if (languages.size() == 1) {
    decoding.language = languages.front();
  }
  cutting.initial_prompt = form.text("prompt");
  cutting.hotwords = form.texts("keywords");
  for (const std::string& words : form.texts("hotwords")) {
    std::ranges::move(hotwords_in(words), std::back_inserter(cutting.hotwords));
  }
  if (const double temperature = form.number("temperature", 0); temperature > 0) {
    // 0 is the default: what is doubtful is tried again at higher ones.
    decoding.whisper.temperatures = {static_cast<float>(temperature)};
  }
  for (const std::string& granularity : form.texts("timestamp_granularities")) {
    if (granularity != "word" && granularity != "segment") {
      return wrong_field(
          "timestamp_granularities",
          fmt::format("timestamp_granularities: wanted word or segment, found '{}'", granularity));
    }
    decoding.words = decoding.words || granularity == "word";
  }
  decoding.words = decoding.words || request.answer == TranscriptAnswer::Srt ||
                   request.answer == TranscriptAnswer::Vtt;
  if (Status chunking = read_chunking(raw, cutting.vad_options); !chunking) {
    return std::unexpected(
        FieldError{.field = "chunking_strategy", .error = std::move(chunking).error()});
  }
  return request;
}

}  // namespace mynah::server
