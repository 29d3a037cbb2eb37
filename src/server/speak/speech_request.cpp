#include "server/speak/speech_request.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server/http/json_text.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

std::unexpected<FieldError> wrong(std::string field, std::string message) {
  return std::unexpected(FieldError{.field = std::move(field),
                                    .error = {ErrorCode::InvalidInput, std::move(message)}});
}

// Members of a request's object; one that is null is not there.
class Members {
 public:
  explicit Members(const Json& object) : object_(object) {}

  [[nodiscard]] const Json* find(const char* name) const {
    const auto found = object_.find(name);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }

  [[nodiscard]] std::expected<std::string, FieldError> text(const char* name) const {
    const Json* const found = find(name);
    if (found == nullptr) {
      return std::string();
    }
    if (!found->is_string()) {
      return wrong(name, fmt::format("{}: wanted text, found {}", name, shortened(found->dump())));
    }
    return found->get<std::string>();
  }

  [[nodiscard]] std::expected<double, FieldError> number(const char* name, double least,
                                                         double most, double initial) const {
    const Json* const found = find(name);
    if (found == nullptr) {
      return initial;
    }
    const double value = found->is_number() ? found->get<double>() : least - 1;
    if (!(value >= least) || !(value <= most)) {
      return wrong(name, fmt::format("{}: wanted a number from {} to {}, found {}", name, least,
                                     most, shortened(found->dump())));
    }
    return value;
  }

 private:
  static std::string shortened(std::string text) {
    constexpr size_t kMost = 80;
    if (text.size() > kMost) {
      text.resize(kMost);
      text += "...";
    }
    return text;
  }

  const Json& object_;
};

// Kokoro's letters for languages (hexgrad/kokoro, pipeline.py LANG_CODES), or a tag as it is.
std::string language_of(const std::string& code) {
  struct Letter {
    std::string_view code;
    std::string_view tag;
  };

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

// A name, or an object with an id.
std::expected<std::string, FieldError> voice_of(const Members& members) {
  const Json* const voice = members.find("voice");
  if (voice != nullptr && voice->is_object() && voice->contains("id") &&
      (*voice)["id"].is_string()) {
    return (*voice)["id"].get<std::string>();
  }
  return members.text("voice");
}

}  // namespace

std::expected<SpeechRequest, FieldError> parse_speech(const std::string& text) {
  const Json object = parse_object(text);
  if (!object.is_object()) {
    return wrong("", "wanted a JSON object such as {\"input\": \"Hello.\", \"voice\": \"alloy\"}");
  }
  const Members members(object);
  SpeechRequest request;
  MYNAH_TRY(request.input, members.text("input"));
  if (request.input.find_first_not_of(" \t\r\n") == std::string::npos) {
    return wrong("input", "input: wanted a text, found none");
  }
  MYNAH_TRY(request.voice, voice_of(members));
  MYNAH_TRY(const std::string format, members.text("response_format"));
  if (!format.empty()) {
    const auto found = std::ranges::find(kSoundFormats, format, &SoundFormatName::name);
    if (found == kSoundFormats.end()) {
      return wrong("response_format",
                   fmt::format("response_format: wanted mp3, opus, aac, flac, wav or pcm, found "
                               "'{}'",
                               format));
    }
    request.format = found->format;
  }
  MYNAH_TRY(const std::string stream_format, members.text("stream_format"));
  if (!stream_format.empty() && stream_format != "audio" && stream_format != "sse") {
    return wrong("stream_format",
                 fmt::format("stream_format: wanted audio or sse, found '{}'", stream_format));
  }
  request.events = stream_format == "sse";
  MYNAH_TRY(const double speed, members.number("speed", 0.25, 4, 1));
  request.options.voice.speed = static_cast<float>(speed);
  MYNAH_TRY(const double volume, members.number("volume_multiplier", 0, 10, 1));
  request.options.volume = static_cast<float>(volume);
  MYNAH_TRY(const std::string language, members.text("lang_code"));
  request.options.language = language_of(language);
  request.options.kind = TextKind::Markdown;
  if (members.find("instructions") != nullptr) {
    request.ignored.emplace_back("instructions");
  }
  return request;
}

}  // namespace mynah::server
