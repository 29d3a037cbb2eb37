// Turns of a conversation: which of them are left out where there is no room for all, and what the
// next one will begin with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chat/chat_prompt.h"
#include "chat/chat_request.h"

namespace mynah {

struct Shortened {
  ChatRequest::Json messages;
  RenderedPrompt prompt;
  int64_t left_out = 0;  // messages
};

// The conversation with the first of its turns left out, so that its prompt and `room` tokens have
// room in `context`: whole turns, each from a message of the user on, and never messages of the
// system or the last turn. More than needed are left out, a quarter of the context at a time, so
// that the next requests begin alike and are not read again. What has no room even so stays as it
// is. Errors as ChatPrompt::render().
[[nodiscard]] Result<Shortened> shorten(const ChatPrompt& prompt, const ChatRequest& request,
                                        RenderedPrompt whole, int64_t context, int64_t room);

// The tokens that whatever the user says next begins with, after this reply; none where the
// template refuses it. Templates that drop old thoughts have dropped that of the reply there.
[[nodiscard]] std::vector<int32_t> beginning_of_next_turn(const ChatPrompt& prompt,
                                                          ChatRequest request,
                                                          const std::string& content);

}  // namespace mynah
