#include "server/chat/completions.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <utility>

#include "server/chat/heard_parts.h"
#include "server/chat/reply_form.h"
#include "server/chat/write_replies.h"
#include "server/hear/fillers.h"
#include "server/http/errors.h"
#include "server/http/events.h"
#include "server/http/json_text.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

// What each reply begins with.
std::vector<std::string> echoes_of(const CompletionRequest& request) {
  std::vector<std::string> echoes;
  for (const std::string& text : request.texts) {
    echoes.insert(echoes.end(), request.echo ? static_cast<size_t>(request.replies) : 0, text);
  }
  return echoes;
}

// One answer.
class CompletionAnswer {
 public:
  CompletionAnswer(const CompletionRequest& request, const Writing& writing, Exchange& exchange)
      : form_(request.goes_on() ? text_form(echoes_of(request)) : chat_form()),
        id_(std::string(form_->id_prefix()) + exchange.head().work->id()),
        model_(writing.name) {}

  [[nodiscard]] ReplyForm& form() { return *form_; }

  // What every part of it has, and the whole.
  [[nodiscard]] Json frame(std::string_view object, Json choices) const {
    return {{"id", id_},
            {"object", object},
            {"created", created_},
            {"model", model_},
            {"system_fingerprint", "mynah"},
            {"choices", std::move(choices)}};
  }

 private:
  std::unique_ptr<ReplyForm> form_;
  std::string id_;
  std::string model_;
  int64_t created_ = std::chrono::duration_cast<std::chrono::seconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
};

Json usage_of(const std::vector<WrittenReply>& replies, int of_a_prompt) {
  std::vector<Generated> spent;
  int64_t thought = 0;
  for (const WrittenReply& one : replies) {
    spent.push_back(one.reply.spent);
    thought += one.reply.thought_tokens;
  }
  return usage_json(spent, static_cast<size_t>(of_a_prompt), thought);
}

// An answer in events, begun with the first word, so that what goes wrong before is told as an
// error.
class StreamedReplies final : public ReplyTaker {
 public:
  StreamedReplies(CompletionAnswer& answer, const CompletionRequest& request, Exchange& exchange,
                  Response head)
      : answer_(answer),
        with_usage_(request.with_usage),
        of_a_prompt_(request.replies),
        exchange_(exchange),
        head_(std::move(head)) {}

  void on_note(const ReplyNote& note) override {
    if (begun_.empty()) {
      add_note(note, head_);
    }
  }

  Status on_delta(int number, const ChatDelta& delta) override {
    MYNAH_TRY_STATUS(begin(number));
    return write(number, answer_.form().part(delta), nullptr, Json::object());
  }

  Status on_end(int number, const ChatReply& reply) override {
    MYNAH_TRY_STATUS(begin(number));
    Json more = {{"timings", timings_json(reply.spent)}};
    if (!reply.notes.empty()) {
      more["mynah_notes"] = notes_json(reply.notes);
    }
    return write(number, answer_.form().ending(), finish_reason(reply.end), more);
  }

  void end(const std::vector<WrittenReply>& replies) {
    if (with_usage_) {
      Json last = answer_.frame(answer_.form().part_object(), Json::array());
      last["usage"] = usage_of(replies, of_a_prompt_);
      static_cast<void>(exchange_.write(event(json_text(last))));  // it may have left
    }
    static_cast<void>(exchange_.write(event("[DONE]")));
    exchange_.end();
  }

  void fail_with(const WriteError& error) {
    if (begun_.empty()) {
      exchange_.answer(openai_error(error.error, error.field, error.code));
      return;
    }
    static_cast<void>(
        exchange_.write(event(openai_error_text(error.error, error.field, error.code))));
    exchange_.end();
  }

 private:
  Status begin(int number) {
    if (begun_.empty()) {
      exchange_.begin(std::move(head_));
    }
    if (!begun_.insert(number).second) {
      return {};
    }
    Json beginning = answer_.form().beginning(static_cast<size_t>(number));
    return beginning.is_null() ? Status()
                               : write(number, std::move(beginning), nullptr, Json::object());
  }

  // `more`: members of the part beside its reply.
  Status write(int number, Json part, Json reason, const Json& more) {
    part["index"] = number;
    part["finish_reason"] = std::move(reason);
    Json frame = answer_.frame(answer_.form().part_object(), Json::array({std::move(part)}));
    if (with_usage_) {
      frame["usage"] = nullptr;
    }
    frame.update(more);
    return exchange_.write(event(json_text(frame)));
  }

  CompletionAnswer& answer_;
  bool with_usage_;
  int of_a_prompt_;  // replies
  Exchange& exchange_;
  Response head_;
  std::set<int> begun_;  // replies
};

void answer_whole(const CompletionRequest& request, const Writing& writing,
                  CompletionAnswer& answer, Exchange& exchange) {
  Response head;
  name_writing(request, writing, head);
  fill_json(exchange, head);
  WholeReplies taker;
  const auto replies = write_replies(request, writing, taker, asker_of(exchange));
  if (!replies) {
    const WriteError& error = replies.error();
    exchange.answer(openai_error(error.error, error.field, error.code));
    return;
  }
  Json choices = Json::array();
  for (const WrittenReply& written : *replies) {
    Json choice = answer.form().whole(written, choices.size());
    choice["index"] = choices.size();
    choice["finish_reason"] = finish_reason(written.reply.end);
    choices.push_back(std::move(choice));
  }
  Json whole = answer.frame(answer.form().object(), std::move(choices));
  whole["usage"] = usage_of(*replies, request.replies);
  const ChatReply& first = replies->front().reply;
  whole["timings"] = timings_json(first.spent);
  if (!first.notes.empty()) {
    whole["mynah_notes"] = notes_json(first.notes);
    std::ranges::for_each(first.notes, [&](const ReplyNote& note) { add_note(note, head); });
  }
  head.body = json_text(whole) + "\n";
  exchange.answer(std::move(head));
}

void answer_in_events(const CompletionRequest& request, const Writing& writing,
                      CompletionAnswer& answer, const WorkBoard& board, Exchange& exchange) {
  Response head = event_stream();
  name_writing(request, writing, head);
  fill_events(exchange, head, board);
  StreamedReplies taker(answer, request, exchange, std::move(head));
  const auto replies = write_replies(request, writing, taker, asker_of(exchange));
  if (replies) {
    taker.end(*replies);
  } else {
    taker.fail_with(replies.error());
  }
}

using Parse = std::expected<CompletionRequest, FieldError> (*)(const SentJson& sent);

void complete(const HearingParts& parts, FieldTable fields, Parse parse, Exchange& exchange) {
  auto request = parse(exchange.json());
  if (!request) {
    exchange.answer(openai_error(request.error().error, request.error().field));
    return;
  }
  Service& service = *parts.service;
  if (const auto heard = hear_parts(request->chat.messages, parts, exchange); !heard) {
    exchange.answer(openai_error(heard.error().error, heard.error().field));
    return;
  }
  const auto writing = service.chats().writing(request->model, UnknownName::MeansDefault);
  if (!writing) {
    const WriteError error = writing_error(writing.error());
    exchange.answer(openai_error(error.error, error.field, error.code));
    return;
  }
  note_passed_over(fields, *writing, exchange, *request);
  CompletionAnswer answer(*request, *writing, exchange);
  if (request->stream) {
    answer_in_events(*request, *writing, answer, service.board(), exchange);
  } else {
    answer_whole(*request, *writing, answer, exchange);
  }
}

}  // namespace

std::vector<Route> completion_routes(const HearingParts& parts) {
  const auto handler = [&parts](FieldTable fields, Parse parse) {
    return [parts, fields, parse](Exchange& exchange) { complete(parts, fields, parse, exchange); };
  };
  return {{.method = "POST",
           .path = "/v1/chat/completions",
           .help = "Replies to a conversation, as OpenAI's API has it.",
           .handler = handler(chat_completion_fields(), parse_chat_completion),
           .accepts = Accepts::Text,
           .rights = {Right::Think},
           .fields = chat_completion_fields(),
           .answers = "application/json text/event-stream"},
          {.method = "POST",
           .path = "/v1/completions",
           .help = "Goes on with a text, as OpenAI's API has it.",
           .handler = handler(completion_fields(), parse_completion),
           .accepts = Accepts::Text,
           .rights = {Right::Think},
           .fields = completion_fields(),
           .answers = "application/json text/event-stream"}};
}

}  // namespace mynah::server
