// The items of a conversation out loud as the messages that a language model replies to.
#pragma once

#include <span>
#include <string>

#include <nlohmann/json.hpp>

namespace mynah::server {

// In the form of ChatRequest::messages, `instructions` before all ("": none). What was said by one
// side in several items is one message; a function's result stands behind its call, wherever it
// came, and one whose call is gone is left out, as what nobody heard or said is. Where the last
// item is of a user who said nothing the model is told that by an ellipsis.
[[nodiscard]] nlohmann::ordered_json chat_messages(std::span<const nlohmann::ordered_json> items,
                                                   const std::string& instructions);

}  // namespace mynah::server
