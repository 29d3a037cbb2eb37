#include "server/speak/speech_request.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "base/ascii.h"

namespace mynah::server {
namespace {

constexpr double kSlowest = 0.25;
constexpr double kFastest = 4;
constexpr double kMostVolume = 10;
constexpr double kLeastRate_hz = 8000;
constexpr double kMostRate_hz = 48000;

// What both requests have.
constexpr Field kInput = {.name = "input", .help = "The text.", .wanted = true};
constexpr Field kModel = {
    .name = "model",
    .help = "A model that is here and speaks; one of OpenAI's, or none: the voice's."};
constexpr Field kVoice = {
    .name = "voice",
    .type = FieldType::Voice,
    .help = "A voice, one of OpenAI's, or a mix such as af_bella(2)+af_sky; none: the best here."};
constexpr Field kFormat = {
    .name = "response_format", .help = "mp3.", .choices = "mp3 opus aac flac wav pcm"};
constexpr Field kSpeed = {.name = "speed",
                          .type = FieldType::Number,
                          .help = "1 is the voice's own.",
                          .least = kSlowest,
                          .most = kFastest};
constexpr Field kStream = {
    .name = "stream",
    .type = FieldType::Flag,
    .help = "False: the answer comes when all of the sound is there, with its length."};
constexpr Field kLanguage = {
    .name = "lang_code",
    .help = "The text's language: a tag such as en-GB, or one of Kokoro's letters."};
constexpr Field kVolume = {.name = "volume_multiplier",
                           .type = FieldType::Number,
                           .help = "How loud: 1 is the voice's own.",
                           .most = kMostVolume};
constexpr Field kNormalization = {
    .name = "normalization_options",
    .type = FieldType::Any,
    .help = "An object; its normalize says whether numbers and signs are read as words."};
constexpr Field kSsml = {
    .name = "ssml", .type = FieldType::Flag, .help = "The text is SSML, and not Markdown."};
constexpr Field kRate = {.name = "sample_rate",
                         .type = FieldType::Whole,
                         .help = "Of the sound, in hertz.",
                         .least = kLeastRate_hz,
                         .most = kMostRate_hz};
// Marks such as [voice:af_sky] are always read, and nothing is kept here to be fetched.
constexpr Field kVoiceTags = {
    .name = "allow_voice_tags", .type = FieldType::Flag, .help = "Ignored.", .ignored = true};
constexpr Field kDownload = {
    .name = "return_download_link", .type = FieldType::Flag, .help = "Ignored.", .ignored = true};
constexpr Field kAliases = {
    .name = "voice_aliases", .type = FieldType::Any, .help = "Ignored.", .ignored = true};

constexpr std::array<Field, 18> kSpeechFields = {
    {kInput,
     kModel,
     kVoice,
     kFormat,
     kSpeed,
     kStream,
     {.name = "stream_format", .help = "audio, or server-sent events.", .choices = "audio sse"},
     kLanguage,
     kVolume,
     kNormalization,
     kSsml,
     kRate,
     {.name = "instructions", .help = "Ignored.", .ignored = true},
     kVoiceTags,
     kDownload,
     {.name = "download_format", .help = "Ignored.", .ignored = true},
     {.name = "return_timing", .type = FieldType::Flag, .help = "Ignored.", .ignored = true},
     kAliases}};

constexpr std::array<Field, 15> kCaptionedFields = {
    {kInput,
     kModel,
     kVoice,
     kFormat,
     kSpeed,
     kStream,
     {.name = "return_timestamps",
      .type = FieldType::Flag,
      .help = "Whether words and their times come with the sound."},
     kLanguage,
     kVolume,
     kNormalization,
     kSsml,
     kRate,
     kVoiceTags,
     kDownload,
     kAliases}};

constexpr double kMostPause_s = 10;

constexpr std::array<Field, 13> kDialogueFields = {
    {{.name = "turns",
      .type = FieldType::Any,
      .help = "A list of {voice, text}, spoken one after the other."},
     {.name = "inputs", .type = FieldType::Any, .help = "The same, as others call it."},
     {.name = "pause_between_turns",
      .type = FieldType::Number,
      .help = "Seconds of silence.",
      .most = kMostPause_s},
     kModel,
     kFormat,
     kSpeed,
     kStream,
     kLanguage,
     kVolume,
     kNormalization,
     kRate,
     kDownload,
     kAliases}};

// What all have of it.
std::expected<SpeechRequest, FieldError> sound_of(const FieldValues& values) {
  SpeechRequest request;
  request.format = sound_format_by(values.text("response_format"), SoundFormat::Mp3);
  request.delivery = values.flag("stream", true) ? SoundDelivery::Stream : SoundDelivery::Whole;
  if (values.has("sample_rate")) {
    request.rate_hz = static_cast<int>(values.number("sample_rate", 0));
  }
  request.model = values.text("model");
  request.options = client_speak_options();
  request.options.voice.speed = static_cast<float>(values.number("speed", 1));
  request.options.volume = static_cast<float>(values.number("volume_multiplier", 1));
  request.options.language = language_of_code(values.text("lang_code"));
  const auto* const normalization = values.find("normalization_options");
  if (normalization == nullptr) {
    return request;
  }
  if (!normalization->is_object()) {
    return wrong_field("normalization_options", "normalization_options: wanted an object");
  }
  const auto normalize = normalization->find("normalize");
  const bool found = normalize != normalization->end();
  if (found && !normalize->is_boolean()) {
    return wrong_field("normalization_options",
                       "normalization_options.normalize: wanted true or false");
  }
  request.options.normalize = !found || normalize->get<bool>();
  if (normalization->size() > (found ? 1U : 0U)) {
    request.ignored.emplace_back("normalization_options");  // but for that one
  }
  return request;
}

// What both for one text have of it.
std::expected<SpeechRequest, FieldError> request_of(const FieldValues& values) {
  MYNAH_TRY(SpeechRequest request, sound_of(values));
  request.input = values.text("input");
  request.voice = values.text("voice");
  if (values.flag("ssml", false)) {
    request.options.kind = TextKind::Ssml;
  }
  return request;
}

}  // namespace

FieldTable speech_fields() {
  return kSpeechFields;
}

FieldTable captioned_fields() {
  return kCaptionedFields;
}

FieldTable dialogue_fields() {
  return kDialogueFields;
}

SpeakingAsk asked_of(const SpeechRequest& request) {
  return {.model = request.model, .voice = request.voice, .language = request.options.language};
}

SpeakOptions client_speak_options() {
  SpeakOptions options;
  options.kind = TextKind::Markdown;
  options.voice_files = false;
  options.first_phonemes = kEarlyPhonemes;
  return options;
}

SoundFormat sound_format_by(std::string_view name, SoundFormat initial) {
  const auto found = std::ranges::find(kSoundFormats, name, &SoundFormatName::name);
  return found == kSoundFormats.end() ? initial : found->format;
}

std::string language_of_code(const std::string& code) {
  struct Letter {
    std::string_view code;
    std::string_view tag;
  };

  // hexgrad/kokoro, pipeline.py LANG_CODES.
  constexpr std::array<Letter, 9> kLetters = {{{"a", "en-US"},
                                               {"b", "en-GB"},
                                               {"e", "es"},
                                               {"f", "fr-FR"},
                                               {"h", "hi"},
                                               {"i", "it"},
                                               {"j", "ja"},
                                               {"p", "pt-BR"},
                                               {"z", "zh"}}};
  const auto found = std::ranges::find(kLetters, code, &Letter::code);
  return found == kLetters.end() ? code : std::string(found->tag);
}

std::expected<SpeechRequest, FieldError> parse_speech(const SentJson& sent) {
  MYNAH_TRY(const FieldValues values, FieldValues::of_json(kSpeechFields, sent));
  MYNAH_TRY(SpeechRequest request, request_of(values));
  if (values.text("stream_format") == "sse") {
    request.delivery = SoundDelivery::Events;
  }
  return request;
}

std::expected<SpeechRequest, FieldError> parse_captioned(const SentJson& sent) {
  MYNAH_TRY(const FieldValues values, FieldValues::of_json(kCaptionedFields, sent));
  MYNAH_TRY(SpeechRequest request, request_of(values));
  request.word_times = values.flag("return_timestamps", true);
  return request;
}

std::expected<DialogueRequest, FieldError> parse_dialogue(const SentJson& sent) {
  MYNAH_TRY(const FieldValues values, FieldValues::of_json(kDialogueFields, sent));
  DialogueRequest request;
  MYNAH_TRY(request.speech, sound_of(values));
  request.pause_s = values.number("pause_between_turns", 0);
  const char* const name = values.has("turns") ? "turns" : "inputs";
  const auto* const turns = values.find(name);
  if (turns == nullptr || !turns->is_array() || turns->empty()) {
    return wrong_field("turns", "turns: wanted a list of {voice, text}");
  }
  const auto text_of = [](const auto& object, const char* member) {
    const auto found = object.find(member);
    return found != object.end() && found->is_string() ? found->template get<std::string>()
                                                       : std::string();
  };
  for (const auto& turn : *turns) {
    DialogueRequest::Turn one;
    if (turn.is_object()) {
      one.voice = text_of(turn, turn.contains("voice") ? "voice" : "voice_id");
      one.text = text_of(turn, "text");
    }
    if (one.voice.empty() || trimmed(one.text).empty()) {
      return wrong_field(name, fmt::format("{}: wanted a voice and a text of each", name));
    }
    request.turns.push_back(std::move(one));
  }
  return request;
}

}  // namespace mynah::server
