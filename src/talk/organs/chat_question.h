// What is sent for a reply, as OpenAI's chat completions want it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "chat/chat_request.h"

namespace mynah::talk {

// Members that some servers refuse, and that a reply is written without.
inline constexpr std::string_view kOptionalChatFields[] = {"max_tokens",
                                                           "max_completion_tokens",
                                                           "temperature",
                                                           "top_p",
                                                           "seed",
                                                           "stop",
                                                           "stream_options",
                                                           "frequency_penalty",
                                                           "presence_penalty",
                                                           "reasoning_effort",
                                                           "chat_template_kwargs",
                                                           "parallel_tool_calls",
                                                           "tool_choice"};

// `is_refused`: whether a member is not to be sent. Thoughts of earlier replies are left out.
[[nodiscard]] std::string chat_question(const ChatRequest& request, const std::string& model,
                                        const std::function<bool(std::string_view)>& is_refused);

// The conversation without the first quarter of its turns, one at least: each from a message of the
// user on, never messages of the system or the last turn. None where there is but one.
[[nodiscard]] std::optional<ChatRequest::Json> without_oldest_turns(
    const ChatRequest::Json& messages);

}  // namespace mynah::talk
