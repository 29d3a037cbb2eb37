// Replies in the words of OpenAI's API: of chat completions, and of completions without messages.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "server/chat/completion_request.h"
#include "server/chat/write_replies.h"

namespace mynah::server {

// One of the two.
class ReplyForm {
 public:
  ReplyForm() = default;
  virtual ~ReplyForm() = default;
  ReplyForm(const ReplyForm&) = delete;
  ReplyForm& operator=(const ReplyForm&) = delete;

  // What a request's answer is called: "chatcmpl-".
  [[nodiscard]] virtual std::string_view id_prefix() const = 0;
  // The type of an answer, and that of a part of one.
  [[nodiscard]] virtual std::string_view object() const = 0;
  [[nodiscard]] virtual std::string_view part_object() const = 0;

  // What a stream begins the reply of that number with; null: nothing.
  [[nodiscard]] virtual nlohmann::ordered_json beginning(size_t number) const = 0;
  // What came of it, without its number.
  [[nodiscard]] virtual nlohmann::ordered_json part(const ChatDelta& delta) = 0;
  // What a stream ends it with: nothing more came.
  [[nodiscard]] virtual nlohmann::ordered_json ending() const = 0;
  // The reply of that number as a whole, without it.
  [[nodiscard]] virtual nlohmann::ordered_json whole(const WrittenReply& written,
                                                     size_t number) = 0;
};

[[nodiscard]] std::unique_ptr<ReplyForm> chat_form();

// `echoes`: what each reply begins with; none: with nothing.
[[nodiscard]] std::unique_ptr<ReplyForm> text_form(std::vector<std::string> echoes);

// Calls of a message: {"id", "type", "function": {"name", "arguments"}} each.
[[nodiscard]] nlohmann::ordered_json calls_json(std::span<const ToolCall> calls);

// Why a reply ended: "stop", "length" or "tool_calls".
[[nodiscard]] std::string_view finish_reason(ReplyEnd end);

// Tokens of replies, so many to each prompt, in the API's words.
[[nodiscard]] nlohmann::ordered_json usage_json(std::span<const Generated> spent,
                                                size_t of_a_prompt, int64_t thought_tokens);

// How long a reply took, in llama.cpp's words (its server's README, "timings").
[[nodiscard]] nlohmann::ordered_json timings_json(const Generated& spent);

}  // namespace mynah::server
