#include "server/realtime/teller.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "server/http/errors.h"
#include "server/http/json_text.h"
#include "server/http/websocket.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

// "" of what the beta does not have.
std::string beta_name(std::string_view type) {
  struct Beginning {
    std::string_view now;
    std::string_view beta;
  };

  constexpr std::array<Beginning, 4> kBeginnings = {
      {{"response.output_audio_transcript.", "response.audio_transcript."},
       {"response.output_audio.", "response.audio."},
       {"response.output_text.", "response.text."},
       {"conversation.item.added", "conversation.item.created"}}};
  if (type == "conversation.item.done") {
    return {};
  }
  for (const Beginning& one : kBeginnings) {
    if (type.starts_with(one.now)) {
      return std::string(one.beta) + std::string(type.substr(one.now.size()));
    }
  }
  return std::string(type);
}

}  // namespace

std::string Teller::new_id(std::string_view kind) {
  return fmt::format("{}_{}{:06x}", kind, session_, ++ids_);
}

void Teller::tell(std::string_view type, Json fields) {
  const std::string name = beta_ ? beta_name(type) : std::string(type);
  if (name.empty()) {
    return;
  }
  Json event = {{"type", name}, {"event_id", new_id("event")}};
  for (auto& [field, value] : fields.items()) {
    event[field] = std::move(value);
  }
  static_cast<void>(outbox_->write(text_message(json_text(event))));  // it may have left
}

void Teller::tell_error(const Error& error, const std::string& event_id, const std::string& field,
                        const std::string& code) {
  Json told = parse_object(openai_error_text(error, field, code))["error"];
  told["event_id"] = nullptr;
  if (!event_id.empty()) {
    told["event_id"] = event_id;
  }
  tell("error", {{"error", std::move(told)}});
}

}  // namespace mynah::server
