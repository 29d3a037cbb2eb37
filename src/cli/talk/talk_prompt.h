// What stands before a conversation out loud in its model's prompt: the system's words and the
// tools.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "chat/chat_model.h"

namespace mynah::cli {

// What people should know of it: that tools are told in words, and what that costs. Usage, with the
// number that is wanted, where the model's context has no room for it and a turn.
[[nodiscard]] Result<std::vector<std::string>> check_talk_prompt(const ChatModel& model,
                                                                 const std::string& system,
                                                                 const ChatRequest::Json& tools);

}  // namespace mynah::cli
