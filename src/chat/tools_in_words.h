// Tools told in words, for models whose chat template knows none.
#pragma once

#include "chat/chat_request.h"

namespace mynah {

// What a chat template knows all the same.
struct TemplateTakes {
  bool system = true;  // a system's message
  bool calls = false;  // calls of an assistant, and their results
};

// The conversation with the tools and how one is called as plain text, which any template writes:
// in the system's message, or in the first of the user's. Where the template takes no calls so are
// what was called and what came of it. `messages` as ChatPrompt has checked them: contents are
// texts, calls have names.
[[nodiscard]] ChatRequest::Json tools_in_words(const ChatRequest::Json& messages,
                                               const ChatRequest::Json& tools,
                                               const TemplateTakes& takes);

}  // namespace mynah
