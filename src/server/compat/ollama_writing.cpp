#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server/chat/reply_form.h"
#include "server/chat/write_replies.h"
#include "server/compat/ollama.h"
#include "server/compat/ollama_request.h"
#include "server/http/json_text.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

// Whether a reply is a message, or a text alone.
enum class OllamaForm : uint8_t { Message, Text };

std::string now_text() {
  return fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr)));
}

int64_t ns_of(Clock::duration time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

int64_t ns_of_ms(double ms) {
  constexpr double kOfMillisecond = 1e6;
  return static_cast<int64_t>(ms * kOfMillisecond);
}

// One answer, a line or many.
class OllamaAnswer {
 public:
  OllamaAnswer(OllamaForm form, std::string model) : form_(form), model_(std::move(model)) {}

  // The model is there.
  void loaded() { load_ = Clock::now() - begun_; }

  [[nodiscard]] Json line(const ReplyMessage& said) const {
    Json line = {{"model", model_}, {"created_at", now_text()}};
    if (form_ == OllamaForm::Text) {
      line["response"] = said.content;
      if (!said.reasoning.empty()) {
        line["thinking"] = said.reasoning;
      }
      line["done"] = false;
      return line;
    }
    Json message = {{"role", "assistant"}, {"content", said.content}};
    if (!said.reasoning.empty()) {
      message["thinking"] = said.reasoning;
    }
    for (const ToolCall& call : said.calls) {
      Json arguments = parse_object(call.arguments);
      if (!arguments.is_object()) {
        // Nobody could call that; who asked sees it at least.
        message["content"] = message["content"].get<std::string>() + call.name + call.arguments;
        continue;
      }
      message["tool_calls"].push_back(
          {{"function", {{"name", call.name}, {"arguments", std::move(arguments)}}}});
    }
    line["message"] = std::move(message);
    line["done"] = false;
    return line;
  }

  // The last line, with what is still to be said.
  [[nodiscard]] Json last(const ReplyMessage& said, const ChatReply& reply) const {
    Json last = line(said);
    const bool cut = reply.end == ReplyEnd::Length || reply.end == ReplyEnd::NoContext;
    last["done"] = true;
    last["done_reason"] = cut ? "length" : "stop";
    last["total_duration"] = ns_of(Clock::now() - begun_);
    last["load_duration"] = ns_of(load_);
    last["prompt_eval_count"] = reply.spent.prompt_tokens;
    last["prompt_eval_duration"] = ns_of_ms(reply.spent.prompt_ms);
    last["eval_count"] = reply.spent.tokens;
    last["eval_duration"] = ns_of_ms(reply.spent.written_ms);
    if (!reply.notes.empty()) {
      last["mynah_notes"] = notes_json(reply.notes);
    }
    return last;
  }

  // Of a request that wants nothing written.
  [[nodiscard]] Json nothing(const char* reason) const {
    Json told = line({});
    told["done"] = true;
    told["done_reason"] = reason;
    return told;
  }

 private:
  OllamaForm form_;
  std::string model_;
  Clock::time_point begun_ = Clock::now();
  Clock::duration load_{};
};

// Lines as the reply is written. A call is told once all of it is there, as its arguments are an
// object here.
class Lines final : public ReplyTaker {
 public:
  Lines(const OllamaAnswer& answer, Exchange& exchange, Response head)
      : answer_(answer), exchange_(exchange), head_(std::move(head)) {}

  void on_note(const ReplyNote& note) override {
    if (!begun_) {
      add_note(note, head_);
    }
  }

  Status on_delta(int /*number*/, const ChatDelta& delta) override {
    if (delta.said.content.empty() && delta.said.reasoning.empty()) {
      return {};
    }
    return write(answer_.line(
        {.content = delta.said.content, .reasoning = delta.said.reasoning, .calls = {}}));
  }

  Status on_end(int /*number*/, const ChatReply& reply) override {
    if (!reply.message.calls.empty()) {
      MYNAH_TRY_STATUS(
          write(answer_.line({.content = {}, .reasoning = {}, .calls = reply.message.calls})));
    }
    return write(answer_.last({}, reply));
  }

  void fail_with(const Error& error) {
    if (!begun_) {
      exchange_.answer(ollama_error(error));
      return;
    }
    static_cast<void>(exchange_.write(ollama_error_text(error) + "\n"));  // it may have left
    exchange_.end();
  }

 private:
  Status write(const Json& line) {
    if (!std::exchange(begun_, true)) {
      exchange_.begin(std::move(head_));
    }
    return exchange_.write(json_text(line) + "\n");
  }

  const OllamaAnswer& answer_;
  Exchange& exchange_;
  Response head_;
  bool begun_ = false;
};

// Refuses tools that the model was taught nothing of: clients ask that of /api/show before.
Status check_tools(const OllamaRequest& request, const Writing& writing) {
  if (request.completion.chat.tools.empty() || writing.chat().prompt().takes_tools()) {
    return {};
  }
  return fail(ErrorCode::Unsupported,
              fmt::format("{} does not support tools: its chat template knows none. Wanted no "
                          "tools, or a model of whose capabilities in POST /api/show they are one",
                          writing.name));
}

// Refuses a context that the server could give and does not; of one that the model was not trained
// for it has as much as it can, as ollama does, and that is said.
Status check_context(const Writing& writing, OllamaRequest& request) {
  const LanguageFacts& facts = writing.chat().facts();
  if (!request.context || *request.context <= facts.context) {
    return {};
  }
  if (facts.context < facts.trained_context) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("options.num_ctx: {} tokens are wanted, and the model was opened with "
                            "{}: start the server with a larger --chat-context",
                            *request.context, facts.context));
  }
  request.completion.notes.push_back(
      {.code = "context_is_smaller",
       .text = fmt::format("options.num_ctx: {} tokens are wanted, and the model was trained for "
                           "{}, which it has",
                           *request.context, facts.trained_context)});
  return {};
}

// The request lets go of a model, or has it opened.
void load_or_let_go(Service& service, const OllamaRequest& request, OllamaAnswer& answer,
                    Exchange& exchange) {
  const std::string& name = request.completion.model;
  const auto work = RequestWork::here();
  const bool lets_go =
      work != nullptr && work->kept() && work->kept()->idle && work->kept()->idle->count() == 0;
  if (lets_go) {
    const auto model = service.chats().model(name);
    if (model) {
      static_cast<void>(service.engine().unload(model->path));
    }
    exchange.answer(model ? Response{.body = json_text(answer.nothing("unload")) + "\n"}
                          : ollama_model_error(name, model.error()));
    return;
  }
  const auto writing = service.chats().writing(name, UnknownName::Refused);
  exchange.answer(writing
                      ? Response{.body = json_text(answer.nothing("load")) + "\n"}
                      : ollama_opening_error(name, service.chats().model(name), writing.error()));
}

using ParseOllama = std::expected<OllamaRequest, FieldError> (*)(const SentJson& sent);

void write(Service& service, OllamaForm form, ParseOllama parse, Exchange& exchange) {
  auto request = parse(exchange.json());
  if (!request) {
    exchange.answer(ollama_error(request.error().error));
    return;
  }
  CompletionRequest& completion = request->completion;
  OllamaAnswer answer(form, completion.model);
  if (request->loads_only) {
    load_or_let_go(service, *request, answer, exchange);
    return;
  }
  const auto writing = service.chats().writing(completion.model, UnknownName::Refused);
  if (!writing) {
    const std::string& name = completion.model;
    exchange.answer(ollama_opening_error(name, service.chats().model(name), writing.error()));
    return;
  }
  answer.loaded();
  for (const Status& checked :
       {check_tools(*request, *writing), check_context(*writing, *request)}) {
    if (!checked) {
      exchange.answer(ollama_error(checked.error()));
      return;
    }
  }
  note_passed_over(form == OllamaForm::Message ? ollama_chat_fields() : ollama_generate_fields(),
                   *writing, exchange, completion);
  Response head;
  name_writing(completion, *writing, head);
  if (completion.stream) {
    head.type = "application/x-ndjson";
    Lines lines(answer, exchange, std::move(head));
    const auto written = write_replies(completion, *writing, lines, asker_of(exchange));
    if (written) {
      exchange.end();
    } else {
      lines.fail_with(written.error().error);
    }
    return;
  }
  WholeReplies taker;
  const auto written = write_replies(completion, *writing, taker, asker_of(exchange));
  if (!written) {
    exchange.answer(ollama_error(written.error().error));
    return;
  }
  const ChatReply& reply = written->front().reply;
  std::ranges::for_each(reply.notes, [&](const ReplyNote& note) { add_note(note, head); });
  head.body = json_text(answer.last(reply.message, reply)) + "\n";
  exchange.answer(std::move(head));
}

}  // namespace

std::vector<Route> ollama_writing_routes(Service& service) {
  const auto handler = [&service](OllamaForm form, ParseOllama parse) {
    return [&service, form, parse](Exchange& exchange) { write(service, form, parse, exchange); };
  };
  return {{.method = "POST",
           .path = "/api/chat",
           .help = "Replies to a conversation, as ollama has it.",
           .handler = handler(OllamaForm::Message, parse_ollama_chat),
           .accepts = Accepts::Text,
           .rights = {Right::Think},
           .fields = ollama_chat_fields(),
           .answers = "application/x-ndjson application/json"},
          {.method = "POST",
           .path = "/api/generate",
           .help = "Replies to a text, as ollama has it.",
           .handler = handler(OllamaForm::Text, parse_ollama_generate),
           .accepts = Accepts::Text,
           .rights = {Right::Think},
           .fields = ollama_generate_fields(),
           .answers = "application/x-ndjson application/json"}};
}

}  // namespace mynah::server
