// Replies to what a client asks a language model, written from its request's thread.
#pragma once

#include <expected>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "chat/chat_model.h"
#include "server/chat/completion_request.h"
#include "server/http/exchange.h"
#include "server/models/chat_service.h"

namespace mynah::server {

// Is told of replies as they come, of several in turns, from the thread that has them written. An
// error ends them.
class ReplyTaker {
 public:
  ReplyTaker() = default;
  virtual ~ReplyTaker() = default;
  ReplyTaker(const ReplyTaker&) = delete;
  ReplyTaker& operator=(const ReplyTaker&) = delete;

  // Of a reply, as soon as it is known: it may be before its first delta.
  virtual void on_note(const ReplyNote& note) { static_cast<void>(note); }

  // `number`: of the reply, from 0. Never empty.
  virtual Status on_delta(int number, const ChatDelta& delta) = 0;

  virtual Status on_end(int number, const ChatReply& reply) = 0;
};

// Takes replies as a whole.
class WholeReplies final : public ReplyTaker {
 public:
  Status on_delta(int /*number*/, const ChatDelta& /*delta*/) override { return {}; }

  Status on_end(int /*number*/, const ChatReply& /*reply*/) override { return {}; }
};

struct WrittenReply {
  ChatReply reply;
  std::vector<ToldToken> tokens;  // where they were asked for
};

// Why nothing more is written.
struct WriteError {
  Error error;
  std::string field;  // of the request, that is wrong; "": none alone
  std::string code;   // for programs; "": that of the error
};

// For whom replies are written.
struct Asker {
  std::string owner;     // the key's name; "": none was wanted
  std::stop_token stop;  // the client left, or wants no more
};

// Who asks by a request.
[[nodiscard]] Asker asker_of(const Exchange& exchange);

// Writes as many replies as are asked for to each text, side by side as ChatModel::replies() has
// it. What was told before an error stays, and the first error ends them all. InvalidInput with the
// code context_length_exceeded where a prompt has no room, and nothing is written; else as
// ChatModel refuses.
std::expected<std::vector<WrittenReply>, WriteError> write_replies(const CompletionRequest& request,
                                                                   const Writing& writing,
                                                                   ReplyTaker& taker,
                                                                   const Asker& asker);

// Names the model, where it computes, and what of the request does nothing.
void name_writing(const CompletionRequest& request, const Writing& writing, Response& response);

// Adds notes of what of the request does nothing: a model that is not here, where another answers,
// and fields that came with it. `fields`: those of its route.
void note_passed_over(FieldTable fields, const Writing& writing, const Exchange& exchange,
                      CompletionRequest& request);

// Names what replies' notes are about: X-Mynah-Notes. Once each.
void add_note(const ReplyNote& note, Response& response);

// Notes as answers have them, [{"code", "text"}]; null: there are none.
[[nodiscard]] nlohmann::ordered_json notes_json(std::span<const ReplyNote> notes);

// What a client is told where no model could be had to write with.
[[nodiscard]] WriteError writing_error(const Error& error);

}  // namespace mynah::server
