#include "server/chat/responses.h"

#include <chrono>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "server/chat/heard_parts.h"
#include "server/chat/response_items.h"
#include "server/chat/responses_request.h"
#include "server/chat/write_replies.h"
#include "server/hear/fillers.h"
#include "server/http/errors.h"
#include "server/http/events.h"
#include "server/http/json_text.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

Json response_usage(const ChatReply& reply) {
  const Generated& spent = reply.spent;
  return {{"input_tokens", spent.prompt_tokens},
          {"input_tokens_details", {{"cached_tokens", spent.cached_tokens}}},
          {"output_tokens", spent.tokens},
          {"output_tokens_details", {{"reasoning_tokens", reply.thought_tokens}}},
          {"total_tokens", spent.prompt_tokens + spent.tokens}};
}

// One answer, in events or as a whole.
class ResponseAnswer final : public ReplyTaker {
 public:
  ResponseAnswer(const ResponsesRequest& request, const Writing& writing, Exchange& exchange,
                 Response head)
      : request_(request),
        model_(writing.name),
        exchange_(exchange),
        head_(std::move(head)),
        items_(exchange.head().work->id(), [this](Json event) { return tell(std::move(event)); }) {}

  void on_note(const ReplyNote& note) override {
    if (!begun_) {
      add_note(note, head_);
    }
  }

  Status on_delta(int /*number*/, const ChatDelta& delta) override {
    MYNAH_TRY_STATUS(begin());
    return items_.take(delta.said);
  }

  Status on_end(int /*number*/, const ChatReply& reply) override {
    MYNAH_TRY_STATUS(begin());
    MYNAH_TRY_STATUS(items_.finish());
    const bool cut = reply.end == ReplyEnd::Length || reply.end == ReplyEnd::NoContext;
    Json whole = response(cut ? "incomplete" : "completed");
    whole["output"] = items_.items();
    whole["usage"] = response_usage(reply);
    if (cut) {
      whole["incomplete_details"] = {{"reason", "max_output_tokens"}};
    }
    if (!reply.notes.empty()) {
      whole["mynah_notes"] = notes_json(reply.notes);
    }
    if (!request_.completion.stream) {
      head_.body = json_text(whole) + "\n";
      exchange_.answer(std::move(head_));
      return {};
    }
    Json last = {{"type", cut ? "response.incomplete" : "response.completed"}};
    last["response"] = std::move(whole);
    MYNAH_TRY_STATUS(tell(std::move(last)));
    exchange_.end();
    return {};
  }

  void fail_with(const WriteError& error) {
    if (!begun_) {
      exchange_.answer(openai_error(error.error, error.field, error.code));
      return;
    }
    Json failed = response("failed");
    failed["error"] = {{"code", "server_error"}, {"message", client_message(error.error)}};
    Json last = {{"type", "response.failed"}};
    last["response"] = std::move(failed);
    static_cast<void>(tell(std::move(last)));  // it may have left
    exchange_.end();
  }

 private:
  [[nodiscard]] Json response(const char* status) const {
    Json response = {{"id", "resp_" + exchange_.head().work->id()},
                     {"object", "response"},
                     {"created_at", created_},
                     {"status", status},
                     {"error", nullptr},
                     {"incomplete_details", nullptr},
                     {"model", model_},
                     {"output", Json::array()},
                     {"previous_response_id", nullptr},
                     {"store", false},
                     {"usage", nullptr}};
    response.update(request_.echoed);
    return response;
  }

  // With the first word, so that what goes wrong before is told as an error.
  Status begin() {
    if (!request_.completion.stream || std::exchange(begun_, true)) {
      return {};
    }
    exchange_.begin(std::move(head_));
    for (const char* const type : {"response.created", "response.in_progress"}) {
      Json event = {{"type", type}};
      event["response"] = response("in_progress");
      MYNAH_TRY_STATUS(tell(std::move(event)));
    }
    return {};
  }

  Status tell(Json told) {
    if (!request_.completion.stream) {
      return {};
    }
    told["sequence_number"] = number_++;
    return exchange_.write(
        fmt::format("event: {}\n{}", told["type"].get<std::string>(), event(json_text(told))));
  }

  const ResponsesRequest& request_;
  std::string model_;
  Exchange& exchange_;
  Response head_;
  ResponseItems items_;
  int64_t created_ = std::chrono::duration_cast<std::chrono::seconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
  int64_t number_ = 0;
  bool begun_ = false;
};

void respond(const HearingParts& parts, Exchange& exchange) {
  auto request = parse_responses(exchange.json());
  if (!request) {
    exchange.answer(openai_error(request.error().error, request.error().field));
    return;
  }
  CompletionRequest& completion = request->completion;
  Service& service = *parts.service;
  if (const auto heard = hear_parts(completion.chat.messages, parts, exchange); !heard) {
    exchange.answer(openai_error(heard.error().error, "input"));
    return;
  }
  const auto writing = service.chats().writing(completion.model, UnknownName::MeansDefault);
  if (!writing) {
    const WriteError error = writing_error(writing.error());
    exchange.answer(openai_error(error.error, error.field, error.code));
    return;
  }
  Response head = completion.stream ? event_stream() : Response{.body = {}};
  name_writing(completion, *writing, head);
  note_passed_over(responses_fields(), *writing, exchange, completion);
  if (completion.stream) {
    fill_events(exchange, head, service.board());
  } else {
    fill_json(exchange, head);
  }
  ResponseAnswer answer(*request, *writing, exchange, std::move(head));
  auto written = write_replies(completion, *writing, answer, asker_of(exchange));
  if (!written) {
    WriteError& error = written.error();
    error.field = error.field == "messages" ? "input" : error.field;
    answer.fail_with(error);
  }
}

}  // namespace

Route responses_route(const HearingParts& parts) {
  return {.method = "POST",
          .path = "/v1/responses",
          .help = "Replies to texts, as OpenAI's Responses API has it.",
          .handler = [parts](Exchange& exchange) { respond(parts, exchange); },
          .accepts = Accepts::Text,
          .rights = {Right::Think},
          .fields = responses_fields(),
          .answers = "application/json text/event-stream"};
}

}  // namespace mynah::server
