#include "server/chat/heard_parts.h"

#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "server/hear/hear_file.h"
#include "store/base64.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

WriteError wrong_part(const std::string& where, Error error) {
  return {.error = std::move(error).while_doing(where), .field = "messages", .code = {}};
}

// The sound of a part as a file that was sent.
Result<FormFile> file_of(const Json& part) {
  const auto sound = part.find("input_audio");
  const auto data = sound != part.end() && sound->is_object() ? sound->find("data") : part.end();
  if (sound == part.end() || !sound->is_object() || data == sound->end() || !data->is_string()) {
    return fail(ErrorCode::InvalidInput, "wanted an object with data, as base64, and its format");
  }
  MYNAH_TRY(const std::string bytes, bytes_of_base64(data->get_ref<const std::string&>()));
  MYNAH_TRY(Upload upload, Upload::create("/var/tmp"));
  MYNAH_TRY_STATUS(upload.append(bytes));
  return FormFile{
      .field = "input_audio", .name = "the sound", .type = {}, .bytes = std::move(upload)};
}

bool is_sound(const Json& part) {
  return part.is_object() && part.contains("type") && part["type"] == "input_audio";
}

}  // namespace

std::expected<void, WriteError> hear_parts(Json& messages, const HearingParts& parts,
                                           Exchange& exchange) {
  std::optional<Hearing> hearing;
  for (size_t i = 0; i < messages.size(); ++i) {
    Json& message = messages[i];
    if (!message.is_object() || !message.contains("content") || !message["content"].is_array()) {
      continue;
    }
    for (Json& part : message["content"]) {
      if (!is_sound(part)) {
        continue;
      }
      const std::string where = fmt::format("messages[{}]: input_audio", i);
      if (!exchange.head().rights.has(Right::Hear)) {
        return std::unexpected(
            wrong_part(where, {ErrorCode::InvalidInput, "wanted a key that has the right hear"}));
      }
      const auto file = file_of(part);
      if (!file) {
        return std::unexpected(wrong_part(where, file.error()));
      }
      if (!hearing) {
        auto opened = parts.service->hearing({});
        if (!opened) {
          return std::unexpected(wrong_part(where, std::move(opened).error()));
        }
        hearing.emplace(*std::move(opened));
      }
      AudioOpenOptions audio;
      audio.media_program = parts.media_program;
      HeardOnce::From from = HeardOnce::From::Heard;
      const auto heard =
          hear_once(parts.once.get(), exchange, *file, audio, RecognizerOptions{}, *hearing, from);
      if (!heard) {
        return std::unexpected(wrong_part(where, heard.error()));
      }
      part = {{"type", "text"}, {"text", text_of_whole(*heard)}};
    }
  }
  return {};
}

}  // namespace mynah::server
