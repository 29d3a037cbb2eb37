#include "server/hear/transcription_request.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server/http/form.h"
#include "server/http/json_text.h"

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

std::unexpected<FieldError> wrong(std::string field, ErrorCode code, std::string message) {
  return std::unexpected(
      FieldError{.field = std::move(field), .error = {code, std::move(message)}});
}

std::expected<TranscriptAnswer, FieldError> answer_of(const std::string& name) {
  if (name.empty()) {
    return TranscriptAnswer::Json;
  }
  if (name == "diarized_json") {
    return wrong("response_format", ErrorCode::Unsupported,
                 "response_format diarized_json: who speaks is not told apart yet; wanted json, "
                 "text, srt, vtt or verbose_json");
  }
  const auto found = std::ranges::find(kAnswers, name, &AnswerName::name);
  if (found == kAnswers.end()) {
    return wrong("response_format", ErrorCode::InvalidInput,
                 fmt::format("response_format: wanted json, text, srt, vtt or verbose_json, found "
                             "'{}'",
                             name));
  }
  return found->answer;
}

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

std::expected<TranscriptionRequest, FieldError> parse_transcription(const Body& body, Task task) {
  const FormValues form(body.fields);
  TranscriptionRequest request;
  request.model = form.text("model");
  const auto answer = answer_of(form.text("response_format"));
  if (!answer) {
    return std::unexpected(answer.error());
  }
  request.answer = *answer;
  const auto stream = form.flag("stream");
  if (!stream) {
    return std::unexpected(FieldError{.field = "stream", .error = stream.error()});
  }
  request.stream = stream->value_or(false);
  for (const std::string& include : form.list("include")) {
    request.log_probabilities = request.log_probabilities || include == "logprobs";
  }
  DecodingOptions& decoding = request.options.decoding;
  CuttingOptions& cutting = request.options.cutting;
  decoding.task = task;
  const std::string language = form.text("language");
  const auto languages = form.list("languages");
  if (!language.empty()) {
    decoding.language = language;
  } else if (languages.size() == 1) {
    decoding.language = languages.front();
  }
  cutting.initial_prompt = form.text("prompt");
  for (const std::string_view field : {"hotwords", "keywords"}) {
    for (const std::string& word : form.list(field)) {
      cutting.hotwords += (cutting.hotwords.empty() ? "" : ", ") + word;
    }
  }
  const auto temperature = form.number("temperature", 0, 1);
  if (!temperature) {
    return std::unexpected(FieldError{.field = "temperature", .error = temperature.error()});
  }
  if (temperature->value_or(0) > 0) {
    // 0 is the default: what is doubtful is tried again at higher ones.
    decoding.whisper.temperatures = {static_cast<float>(**temperature)};
  }
  for (const std::string& granularity : form.list("timestamp_granularities")) {
    if (granularity != "word" && granularity != "segment") {
      return wrong(
          "timestamp_granularities", ErrorCode::InvalidInput,
          fmt::format("timestamp_granularities: wanted word or segment, found '{}'", granularity));
    }
    decoding.words = decoding.words || granularity == "word";
  }
  decoding.words = decoding.words || request.answer == TranscriptAnswer::Srt ||
                   request.answer == TranscriptAnswer::Vtt;
  if (Status chunking = read_chunking(form, cutting.vad_options); !chunking) {
    return std::unexpected(
        FieldError{.field = "chunking_strategy", .error = std::move(chunking).error()});
  }
  return request;
}

}  // namespace mynah::server
