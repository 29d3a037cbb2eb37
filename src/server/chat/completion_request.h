// What a client asks a language model: OpenAI's fields and those that llama.cpp's clients add.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "chat/chat_request.h"
#include "server/chat/answer_rules.h"
#include "server/http/fields.h"

namespace mynah::server {

struct CompletionRequest {
  // Its owner's name is added by whoever knows the key.
  ChatRequest chat;
  std::string model;
  std::vector<std::string> texts;  // to go on with, in place of messages
  AnswerRules rules;               // its constraint is chat.constraint
  int replies = 1;                 // to each text, or to the messages
  bool stream = false;
  bool with_usage = false;           // in a stream
  bool echo = false;                 // the text is told in front of what goes on with it
  std::vector<std::string> ignored;  // parts of it that do nothing here, besides whole fields
  std::vector<ReplyNote> notes;      // that are known before the model is asked

  // Whether texts are gone on with.
  [[nodiscard]] bool goes_on() const { return !texts.empty(); }
};

// Of POST /v1/chat/completions and /v1/completions.
[[nodiscard]] FieldTable chat_completion_fields();
[[nodiscard]] FieldTable completion_fields();

// Reads a request's JSON (OpenAI's API reference, chat/create).
std::expected<CompletionRequest, FieldError> parse_chat_completion(const SentJson& sent);

// The same of the older interface without messages (completions/create).
std::expected<CompletionRequest, FieldError> parse_completion(const SentJson& sent);

// A list of one message at least, each with a role that OpenAI's API has and with the content that
// it needs; a tool's result behind the calls of an assistant.
[[nodiscard]] std::expected<void, FieldError> check_messages(
    const nlohmann::ordered_json* messages);

// Refuses a role that no conversation has. `where`: of it in the request.
[[nodiscard]] std::expected<void, FieldError> check_role(const nlohmann::ordered_json& message,
                                                         const std::string& where);

// How much is to be thought, by the object `reasoning` as OpenAI's Responses and OpenRouter have
// it:
// {"effort": "low", "max_tokens": 500, "enabled": true}.
[[nodiscard]] std::expected<Thinking, FieldError> read_thinking(const FieldValues& values);

// The effort of a word: "none" to "xhigh"; none: there is no such word.
[[nodiscard]] std::optional<Thinking::Effort> effort_of(std::string_view word);

// Has the request keep to its rules; tools that may not be called are not shown to the model.
void apply(AnswerRules rules, const ToolChoice& choice, CompletionRequest& request);

}  // namespace mynah::server
