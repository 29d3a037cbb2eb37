#include "server/chat/write_replies.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <iterator>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest_name.h"
#include "chat/call_ids.h"
#include "server/chat/content_calls.h"
#include "server/http/json_text.h"
#include "server/http/passed_over.h"
#include "store/catalogue.h"
#include "store/sha256.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kTooLong = "context_length_exceeded";

void append(const ReplyDelta& said, ReplyMessage& message) {
  message.content += said.content;
  message.reasoning += said.reasoning;
  for (const CallDelta& call : said.calls) {
    if (call.index >= message.calls.size()) {
      message.calls.resize(call.index + 1);
    }
    ToolCall& whole = message.calls[call.index];
    whole.id += call.id;
    whole.name += call.name;
    whole.arguments += call.arguments;
  }
}

// One reply as it comes: what the model said as who asked wants it.
class OneReply final : public ChatObserver {
 public:
  OneReply(const CompletionRequest& request, const Writing& writing, int number, ReplyTaker& taker)
      : request_(request),
        writing_(writing),
        number_(number),
        taker_(taker),
        calls_(request.rules.content, request.rules.callable,
               fmt::format("call_{:016x}",
                           call_id_seed(request.chat) + static_cast<uint64_t>(number))) {}

  // Whether the prompt had no room.
  [[nodiscard]] bool is_too_long() const { return too_long_; }

  Status on_begin(int64_t prompt_tokens, int64_t context) override {
    if (prompt_tokens >= context) {
      too_long_ = true;
      return fail(ErrorCode::InvalidInput,
                  fmt::format("the maximum context length is {} tokens here, and the request has "
                              "{}: nothing of it was left out; send less{}",
                              context, prompt_tokens, way_to_more(context)));
    }
    if (work_ != nullptr) {
      work_->begin();
    }
    return {};
  }

  void on_note(const ReplyNote& note) override { taker_.on_note(note); }

  Status on_delta(const ChatDelta& delta) override {
    ChatDelta told{.said = calls_.take(delta.said), .tokens = delta.tokens};
    if (request_.chat.one_call) {
      std::erase_if(told.said.calls, [](const CallDelta& call) { return call.index > 0; });
    }
    return tell(told);
  }

  Status on_end(const ChatReply& reply) override {
    MYNAH_TRY_STATUS(tell({.said = calls_.finish(), .tokens = {}}));
    whole_.reply = reply;
    whole_.reply.notes.insert(whole_.reply.notes.begin(), request_.notes.begin(),
                              request_.notes.end());
    whole_.reply.message = std::move(message_);
    if (whole_.reply.end == ReplyEnd::Whole && !whole_.reply.message.calls.empty()) {
      whole_.reply.end = ReplyEnd::Calls;
    }
    const Generated& spent = whole_.reply.spent;
    writing_.metrics->count_written(
        {.prompt = spent.prompt_tokens, .cached = spent.cached_tokens, .written = spent.tokens});
    return taker_.on_end(number_, whole_.reply);
  }

  // Once all was written.
  [[nodiscard]] WrittenReply take() { return std::move(whole_); }

 private:
  // How a request that had no room in `context` tokens could have more, where it could.
  [[nodiscard]] std::string_view way_to_more(int64_t context) const {
    const LanguageFacts& facts = writing_.chat().facts();
    if (context < facts.context) {
      return ", or ask for a larger num_ctx";
    }
    return facts.context < facts.trained_context
               ? ", or start the server with a larger --chat-context"
               : ", as the model was trained for no more";
  }

  Status tell(const ChatDelta& told) {
    if (told.empty()) {
      return {};
    }
    if (!std::exchange(begun_, true) && number_ == 0 && work_ != nullptr) {
      writing_.metrics->count_first_word(std::chrono::duration<double>(work_->age()).count());
    }
    append(told.said, message_);
    whole_.tokens.insert(whole_.tokens.end(), told.tokens.begin(), told.tokens.end());
    return taker_.on_delta(number_, told);
  }

  const CompletionRequest& request_;
  const Writing& writing_;
  const int number_;
  ReplyTaker& taker_;
  const std::shared_ptr<RequestWork> work_ = RequestWork::here();
  ContentCalls calls_;
  ReplyMessage message_;
  WrittenReply whole_;
  bool begun_ = false;
  bool too_long_ = false;
};

// The field that an error is about which the model found.
std::string refused_part(const CompletionRequest& request, const Error& error) {
  if (error.code != ErrorCode::InvalidInput && error.code != ErrorCode::Unsupported) {
    return {};
  }
  if (error.message.starts_with("messages") || error.message.contains("chat template")) {
    return "messages";
  }
  if (error.message.starts_with("tool ")) {
    return "tools";
  }
  if (!request.chat.constraint) {
    return request.chat.must_call ? "tools" : "";
  }
  if (request.chat.constraint->kind == grammar::ConstraintSource::Kind::Gbnf) {
    return "grammar";
  }
  return request.rules.content == ContentIs::Text ? "response_format" : "tools";
}

}  // namespace

Asker asker_of(const Exchange& exchange) {
  return {.owner = exchange.head().owner, .stop = exchange.stop()};
}

std::expected<std::vector<WrittenReply>, WriteError> write_replies(const CompletionRequest& request,
                                                                   const Writing& writing,
                                                                   ReplyTaker& taker,
                                                                   const Asker& asker) {
  ChatModel& model = writing.chat();
  const int64_t vocabulary = model.facts().vocabulary;
  const std::vector<TokenBias>& bias = request.chat.choice.sampling.logit_bias;
  const auto unknown =
      std::ranges::find_if(bias, [&](const TokenBias& one) { return one.token >= vocabulary; });
  if (unknown != bias.end()) {
    return std::unexpected(
        WriteError{.error = {ErrorCode::InvalidInput,
                             fmt::format("logit_bias: wanted tokens below {}, found {}", vocabulary,
                                         unknown->token)},
                   .field = "logit_bias",
                   .code = {}});
  }
  CompletionRequest one = request;
  // Nobody finds what was read for the owner of another key. A conversation's digest, as it is kept
  // with each text and may be as long as a client likes.
  one.chat.owner = json_text({asker.owner});
  one.chat.conversation = sha256_hex(std::as_bytes(std::span(request.chat.conversation)));
  std::ranges::for_each(one.notes, [&](const ReplyNote& note) { taker.on_note(note); });
  const int count = request.replies * std::max(1, static_cast<int>(request.texts.size()));
  std::deque<OneReply> replies;
  std::vector<ChatObserver*> observers;
  observers.reserve(static_cast<size_t>(count));
  for (int number = 0; number < count; ++number) {
    observers.push_back(&replies.emplace_back(one, writing, number, taker));
  }
  const auto written = one.goes_on() ? model.go_on(one.texts, one.chat, observers, asker.stop)
                                     : model.replies(one.chat, observers, asker.stop);
  if (!written) {
    const bool too_long = std::ranges::any_of(replies, &OneReply::is_too_long);
    std::string field =
        too_long ? (one.goes_on() ? "prompt" : "messages") : refused_part(request, written.error());
    return std::unexpected(WriteError{
        .error = written.error(), .field = std::move(field), .code = too_long ? kTooLong : ""});
  }
  std::vector<WrittenReply> all;
  std::ranges::transform(replies, std::back_inserter(all), &OneReply::take);
  return all;
}

void name_writing(const CompletionRequest& request, const Writing& writing, Response& response) {
  response.headers.set("X-Mynah-Model", writing.name);
  response.headers.set("X-Mynah-Device", "llm=" + writing.lease->device());
  std::vector<std::string> ignored = request.ignored;
  if (writing.model_passed_over) {
    ignored.emplace_back("model");
  }
  if (!ignored.empty()) {
    response.headers.set(kIgnoredHeader, fmt::format("{}", fmt::join(ignored, ", ")));
  }
}

void note_passed_over(FieldTable fields, const Writing& writing, const Exchange& exchange,
                      CompletionRequest& request) {
  if (writing.model_passed_over) {
    const std::string wanted = header_item(request.model);
    const bool can_be_had = find_in_catalogue(request.model) != nullptr;
    request.notes.push_back(
        {.code = "other_model",
         .text =
             fmt::format("there is no model {} here, and {} answers{}", wanted, writing.name,
                         can_be_had ? fmt::format("; `mynah pull {}` brings it", wanted) : "")});
  }
  std::vector<std::string> known;
  std::ranges::for_each(fields, [&](const Field& field) { known.emplace_back(field.name); });
  std::vector<std::string> told;
  for (const std::string& field : exchange.head().work->passed_over()) {
    const bool is_known = std::ranges::find(known, field) != known.end();
    told.push_back(fmt::format("{}{}", field, is_known ? "" : suggestion(field, known)));
  }
  if (!told.empty()) {
    request.notes.push_back({.code = "ignored_fields",
                             .text = fmt::format("fields of the request that do nothing here: {}",
                                                 fmt::join(told, ", "))});
  }
}

void add_note(const ReplyNote& note, Response& response) {
  constexpr const char* kNotesHeader = "X-Mynah-Notes";
  const std::string before(response.headers.get(kNotesHeader));
  if (!before.contains(note.code)) {
    response.headers.set(kNotesHeader, before.empty() ? note.code : before + ", " + note.code);
  }
}

Json notes_json(std::span<const ReplyNote> notes) {
  Json all;
  for (const ReplyNote& note : notes) {
    all.push_back({{"code", note.code}, {"text", note.text}});
  }
  return all;
}

WriteError writing_error(const Error& error) {
  const bool missing = error.code == ErrorCode::NotFound;
  return {.error = error, .field = "model", .code = missing ? "model_not_found" : ""};
}

}  // namespace mynah::server
