// What a client asks to have heard: OpenAI's fields and those that others' clients add.
#pragma once

#include <expected>
#include <string>

#include "server/http/body.h"
#include "server/http/fields.h"
#include "speech/recognizer_options.h"

namespace mynah::server {

// How the text is answered.
enum class TranscriptAnswer : uint8_t { Json, Text, Srt, Vtt, VerboseJson };

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
