// What OpenAI's Responses API asks a language model, in its text part (API reference,
// responses/create).
#pragma once

#include <expected>

#include <nlohmann/json.hpp>

#include "server/chat/completion_request.h"

namespace mynah::server {

struct ResponsesRequest {
  CompletionRequest completion;
  nlohmann::ordered_json echoed;  // fields that the answer repeats, as they came
};

[[nodiscard]] FieldTable responses_fields();

// Reads a request's JSON.
std::expected<ResponsesRequest, FieldError> parse_responses(const SentJson& sent);

}  // namespace mynah::server
