#include "server/hear/transcriptions.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server/hear/fillers.h"
#include "server/hear/hear_file.h"
#include "server/hear/transcript_answer.h"
#include "server/hear/transcription_request.h"
#include "server/http/errors.h"
#include "server/http/events.h"
#include "server/http/json_text.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

// Without the space that Whisper writes before every word.
std::string_view from_first_word(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

Json words_of(const Segment& segment) {
  Json words = Json::array();
  for (const Word& word : segment.words) {
    words.push_back({{"word", word.text},
                     {"start", word.start_s},
                     {"end", word.end_s},
                     {"probability", word.probability}});
  }
  return words;
}

// transcript.text.done knows tokens alone: those that were written, none that were read.
Json usage_by_tokens(const Transcript& transcript) {
  size_t tokens = 0;
  for (const Segment& segment : transcript.segments) {
    tokens += segment.tokens.size();
  }
  return {
      {"type", "tokens"}, {"input_tokens", 0}, {"output_tokens", tokens}, {"total_tokens", tokens}};
}

class TranscriptionExchange final : public RecognizerObserver {
 public:
  TranscriptionExchange(Exchange& exchange, const TranscriptionRequest& request,
                        const Hearing& hearing, const WorkBoard& board)
      : exchange_(exchange), request_(request), hearing_(hearing), board_(board) {
    keep_gateways();
  }

  // Where the text comes from: set before any of it does.
  [[nodiscard]] HeardOnce::From& from() { return from_; }

  void on_segment(size_t /*job*/, const Segment& segment) override {
    if (!request_.stream) {
      return;
    }
    const std::string_view text = begun_ ? segment.text : from_first_word(segment.text);
    if (text.empty()) {
      return;
    }
    begin();
    Json delta = {{"type", "transcript.text.delta"}, {"delta", text}};
    // Beside what OpenAI has: when it was said.
    delta["start"] = segment.start_s;
    delta["end"] = segment.end_s;
    if (!segment.words.empty()) {
      delta["words"] = words_of(segment);
    }
    if (request_.log_probabilities) {
      delta["logprobs"] = log_probabilities({&segment, 1}, *hearing_.lease->recognizer);
    }
    write(json_text(delta));
  }

  void on_done(size_t /*job*/, const Result<Transcript>& result) override {
    if (!result) {
      fail_with(result.error());
    } else if (request_.stream) {
      end_stream(*result);
    } else {
      answer(*result);
    }
  }

 private:
  void begin() {
    if (!begun_) {
      begun_ = true;
      exchange_.begin(head_of_events());
    }
  }

  [[nodiscard]] Response head_of_events() const {
    Response response = event_stream();
    name_hearing(hearing_, response);
    name_source(from_, response);
    return response;
  }

  // A long recording takes longer than gateways have patience. Other texts begin with their first
  // letter.
  void keep_gateways() {
    if (request_.stream) {
      fill_events(exchange_, head_of_events(), board_);
    } else if (request_.answer == TranscriptAnswer::Json ||
               request_.answer == TranscriptAnswer::VerboseJson) {
      Response head;
      name_hearing(hearing_, head);
      fill_json(exchange_, std::move(head));
    }
  }

  // Where the client left, the recogniser sees that by itself.
  void write(const std::string& json) { static_cast<void>(exchange_.write(event(json))); }

  void fail_with(const Error& error) {
    if (!begun_) {
      exchange_.answer(openai_error(error, "file"));
      return;
    }
    write(openai_error_text(error, "file"));
    exchange_.end();
  }

  void end_stream(const Transcript& transcript) {
    begin();
    Json done = {{"type", "transcript.text.done"}, {"text", text_of_whole(transcript)}};
    done["languages"] = Json::array({Json{{"code", transcript.language}}});
    if (request_.log_probabilities) {
      done["logprobs"] = log_probabilities(transcript.segments, *hearing_.lease->recognizer);
    }
    done["usage"] = usage_by_tokens(transcript);
    write(json_text(done));
    exchange_.end();
  }

  void answer(const Transcript& transcript) {
    Response response =
        transcript_answer(transcript, request_.answer, request_, *hearing_.lease->recognizer);
    name_hearing(hearing_, response);
    name_source(from_, response);
    const std::chrono::duration<double, std::milli> took =
        std::chrono::steady_clock::now() - begun_at_;
    response.headers.set("Server-Timing", fmt::format("hear;dur={:.2f}", took.count()));
    exchange_.answer(std::move(response));
  }

  Exchange& exchange_;
  const TranscriptionRequest& request_;
  const Hearing& hearing_;
  const WorkBoard& board_;
  const std::chrono::steady_clock::time_point begun_at_ = std::chrono::steady_clock::now();
  bool begun_ = false;
  HeardOnce::From from_ = HeardOnce::From::Heard;
};

void transcribe(const HearingParts& parts, Task task, Exchange& exchange) {
  const FormFile* const file = recording_of(exchange.body(), "file");
  if (file == nullptr) {
    exchange.answer(openai_error(
        {ErrorCode::InvalidInput, "file: wanted a recording, such as curl -F file=@talk.mp3"},
        "file"));
    return;
  }
  auto request = parse_transcription(exchange.body(), task);
  if (!request) {
    exchange.answer(openai_error(request.error().error, request.error().field));
    return;
  }
  const auto hearing = parts.service->hearing(request->model);
  if (!hearing) {
    const bool missing = hearing.error().code == ErrorCode::NotFound;
    exchange.answer(openai_error(hearing.error(), "model", missing ? "model_not_found" : ""));
    return;
  }
  const Recognizer& recognizer = *hearing->lease->recognizer;
  if (const Status checked = recognizer.check(request->options); !checked) {
    exchange.answer(openai_error(checked.error(), refused_field(recognizer, request->options)));
    return;
  }
  AudioOpenOptions audio;
  audio.media_program = parts.media_program;
  TranscriptionExchange observer(exchange, *request, *hearing, parts.service->board());
  hear_once(parts.once.get(), exchange, *file, audio, request->options, *hearing, observer,
            observer.from());
}

}  // namespace

std::vector<Route> transcription_routes(const HearingParts& parts) {
  const auto handler = [&parts](Task task) {
    return [parts, task](Exchange& exchange) { transcribe(parts, task, exchange); };
  };
  return {{.method = "POST",
           .path = "/v1/audio/transcriptions",
           .help = "Speech to text, as OpenAI's API has it.",
           .handler = handler(Task::Transcribe),
           .accepts = Accepts::Form,
           .rights = {Right::Hear},
           .fields = transcription_fields(),
           .answers = "application/json text/plain text/vtt text/event-stream"},
          {.method = "POST",
           .path = "/v1/audio/translations",
           .help = "Speech to English text, as OpenAI's API has it.",
           .handler = handler(Task::Translate),
           .accepts = Accepts::Form,
           .rights = {Right::Hear},
           .fields = transcription_fields(),
           .answers = "application/json text/plain text/vtt text/event-stream"}};
}

}  // namespace mynah::server
