// What a client asks to have heard: OpenAI's fields and those that others' clients add.
#pragma once

#include <array>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "server/http/body.h"
#include "server/http/fields.h"
#include "speech/recognizer_options.h"

namespace mynah::server {

// How the text is answered.
enum class TranscriptAnswer : uint8_t { Json, Text, Srt, Vtt, VerboseJson };

// "verbose_json".
[[nodiscard]] std::string_view name(TranscriptAnswer answer);

// None: it is none.
[[nodiscard]] std::optional<TranscriptAnswer> parse_answer(std::string_view name);

inline constexpr std::array kTranscriptAnswers = {TranscriptAnswer::Json, TranscriptAnswer::Text,
                                                  TranscriptAnswer::Srt, TranscriptAnswer::Vtt,
                                                  TranscriptAnswer::VerboseJson};

struct TranscriptionRequest {
  std::string model;
  TranscriptAnswer answer = TranscriptAnswer::Json;
  bool stream = false;  // as it is heard, by server-sent events
  bool log_probabilities = false;
  RecognizerOptions options;
};

// Of a form (OpenAI's API reference, audio/createTranscription).
[[nodiscard]] FieldTable transcription_fields();

// Reads them.
std::expected<TranscriptionRequest, FieldError> parse_transcription(const Body& body, Task task);

}  // namespace mynah::server
