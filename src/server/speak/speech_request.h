// What a client asks to have spoken: OpenAI's fields and those that Kokoro-FastAPI's clients add.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "audio/sound_format.h"
#include "base/result.h"
#include "server/http/field_error.h"
#include "speech/synthesizer.h"

namespace mynah::server {

struct SpeechRequest {
  std::string input;
  std::string voice;
  SoundFormat format = SoundFormat::Mp3;
  bool events = false;  // the sound comes in server-sent events
  SpeakOptions options;
  std::vector<std::string> ignored;  // fields that are understood and do nothing here
};

// Reads a request's JSON (OpenAI's API reference, audio/createSpeech). Fields that nobody knows are
// passed over, as OpenAI does.
std::expected<SpeechRequest, FieldError> parse_speech(const std::string& text);

}  // namespace mynah::server
