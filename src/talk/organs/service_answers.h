// What services answer: refusals, lists of models, transcripts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "talk/organs/organs.h"

namespace mynah::talk {

// What a service says of a request that it refuses.
struct ServiceRefusal {
  std::string message;                // one line without control characters; "": nothing
  std::string code;                   // "context_length_exceeded"; "": none
  std::vector<std::string> fields{};  // that it names as the ones at fault
};

// Of a body in any of the forms in use: OpenAI's error object, a text in its place (Ollama),
// FastAPI's "detail", plain text. What is none of them, as a page of HTML, says nothing.
[[nodiscard]] ServiceRefusal read_refusal(std::string_view body);

// The one of `optional` that is refused: named as the one at fault, or else quoted in the message.
[[nodiscard]] std::optional<std::string_view> refused_field(
    const ServiceRefusal& refusal, std::span<const std::string_view> optional);

// Whether a conversation is refused for its length.
[[nodiscard]] bool is_too_long(const ServiceRefusal& refusal);

struct ServedModel {
  std::string id;
  std::string task;  // "text-generation", as Hugging Face calls it; "": it is not told
  bool is_mynahs = false;
};

// OpenAI's list ("data"), Ollama's ("models"), or a bare one. InvalidInput where it is none.
[[nodiscard]] Result<std::vector<ServedModel>> read_models(std::string_view body);

enum class ServedKind : uint8_t { Hears, Writes, Speaks };

// The name to ask for where the user gives none: the first that is of the kind by its task, or by
// its name where no task is told; none of them: "".
[[nodiscard]] std::string choose_model(const std::vector<ServedModel>& models, ServedKind kind);

// A transcript: json or verbose_json as OpenAI, whisper.cpp and mynah write them, or plain text.
// `wish`: what was asked. InvalidInput where it is none.
[[nodiscard]] Result<HeardText> read_transcript(std::string_view body, const HearWish& wish);

}  // namespace mynah::talk
