// What ollama's clients ask a language model (its docs/api.md, "Generate a completion" and
// "Generate a chat completion").
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>

#include "server/chat/completion_request.h"

namespace mynah::server {

struct OllamaRequest {
  CompletionRequest completion;
  bool loads_only = false;         // nothing is to be written
  std::optional<int64_t> context;  // positions that the client counts on
};

// Of POST /api/chat and /api/generate.
[[nodiscard]] FieldTable ollama_chat_fields();
[[nodiscard]] FieldTable ollama_generate_fields();

// Reads a request's JSON.
std::expected<OllamaRequest, FieldError> parse_ollama_chat(const SentJson& sent);
std::expected<OllamaRequest, FieldError> parse_ollama_generate(const SentJson& sent);

}  // namespace mynah::server
