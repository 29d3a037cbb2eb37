// What a client asks to have spoken: OpenAI's fields and those that Kokoro-FastAPI's clients add.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "audio/sound_format.h"
#include "base/result.h"
#include "server/http/fields.h"
#include "server/models/service.h"
#include "speech/synthesizer.h"

namespace mynah::server {

// How sound is answered.
enum class SoundDelivery : uint8_t {
  Stream,  // while it is computed
  Events,  // the same, in server-sent events
  Whole    // when all of it is there, with its length
};

struct SpeechRequest {
  std::string input;
  std::string model{};
  std::string voice{};
  SoundFormat format = SoundFormat::Mp3;
  SoundDelivery delivery = SoundDelivery::Stream;
  std::optional<int> rate_hz{};  // none: the voice's, of pcm 24 kHz
  bool word_times = true;        // of captions
  SpeakOptions options{};
  std::vector<std::string> ignored{};  // parts of it that do nothing here, besides whole fields
};

// Who is to say it.
[[nodiscard]] SpeakingAsk asked_of(const SpeechRequest& request);

// A talk between voices.
struct DialogueRequest {
  struct Turn {
    std::string voice;
    std::string text;
  };

  SpeechRequest speech;  // without input and voice
  std::vector<Turn> turns;
  double pause_s = 0;  // between two of them
};

// Of POST /v1/audio/speech, /dev/captioned_speech and /dev/dialogue.
[[nodiscard]] FieldTable speech_fields();
[[nodiscard]] FieldTable captioned_fields();
[[nodiscard]] FieldTable dialogue_fields();

// Reads a request's JSON (OpenAI's API reference, audio/createSpeech).
std::expected<SpeechRequest, FieldError> parse_speech(const SentJson& sent);

// The same for sound with words' times (Kokoro-FastAPI, CaptionedSpeechRequest).
std::expected<SpeechRequest, FieldError> parse_captioned(const SentJson& sent);

// The same for several voices (Kokoro-FastAPI, DialogueRequest).
std::expected<DialogueRequest, FieldError> parse_dialogue(const SentJson& sent);

// What texts are read as wherever a client sends them.
[[nodiscard]] SpeakOptions client_speak_options();

// The format of one of their names; of "" `initial`.
[[nodiscard]] SoundFormat sound_format_by(std::string_view name, SoundFormat initial);

// A tag of Kokoro's letters for languages ("a": "en-US"); another code as it is.
[[nodiscard]] std::string language_of_code(const std::string& code);

}  // namespace mynah::server
