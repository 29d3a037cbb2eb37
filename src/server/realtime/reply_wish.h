// What a client of Realtime wants of a response that a language model writes.
#pragma once

#include <expected>
#include <string>

#include <nlohmann/json.hpp>

#include "server/chat/completion_request.h"
#include "server/http/field_error.h"

namespace mynah::server {

// What a model is told where a client gives no instructions: they are told in `session.created`, as
// OpenAI's are.
inline constexpr const char* kUsualInstructions =
    "You are a friendly assistant in a conversation out loud. Answer in one or two short sentences "
    "of plain spoken words, in the language that you are spoken to in, without lists, headings, "
    "emoji or addresses.";

// The session's fields with a response's own in their place, without messages: instructions, tools,
// tool_choice, parallel_tool_calls, reasoning, max_output_tokens ("inf": as many as there is room
// for), truncation, temperature. `within`: of fields in errors: "response.". Tools that are no
// functions are left out.
[[nodiscard]] std::expected<CompletionRequest, FieldError> written_wish(
    const nlohmann::ordered_json& fields, const std::string& within);

// How many of its tools are no functions.
[[nodiscard]] size_t foreign_tools(const nlohmann::ordered_json& fields);

}  // namespace mynah::server
