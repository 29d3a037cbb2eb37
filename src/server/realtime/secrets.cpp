#include "server/realtime/secrets.h"

#include <chrono>
#include <string>
#include <utility>

#include "server/http/errors.h"
#include "server/http/json_text.h"
#include "server/realtime/settings.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

// How an answer is shaped: with the session in it, or as the beta's session that has the secret.
enum class Shape : uint8_t { Secret, Session, TranscriptionSession };

int64_t unix_time_in(std::chrono::seconds time) {
  return std::chrono::duration_cast<std::chrono::seconds>(
             (std::chrono::system_clock::now() + time).time_since_epoch())
      .count();
}

void answer_secret(ClientSecrets& secrets, Shape shape, Exchange& exchange) {
  const Json asked = exchange.body().text.empty() ? Json::object() : exchange.json().object;
  const Json session =
      shape == Shape::Secret && asked.is_object() ? asked.value("session", Json::object()) : asked;
  if (!asked.is_object() || !session.is_object()) {
    exchange.answer(
        openai_error({ErrorCode::InvalidInput, "session: wanted a JSON object"}, "session"));
    return;
  }
  const bool transcription =
      shape == Shape::TranscriptionSession || session.value("type", Json()) == "transcription";
  Settings settings(transcription, {});
  if (const auto updated = settings.update(session); !updated) {
    exchange.answer(openai_error(updated.error().error, updated.error().field));
    return;
  }
  Json granted = session;
  granted["type"] = transcription ? "transcription" : "realtime";
  const RequestHead& head = exchange.head();
  const auto secret = secrets.make(
      {.owner = {.name = head.owner, .rights = head.rights}, .session = json_text(granted)});
  if (!secret) {
    exchange.answer(openai_error(secret.error()));
    return;
  }
  const int64_t expires_at = unix_time_in(ClientSecrets::kLife);
  Json told =
      settings.told("sess_" + secret->substr(secret->find('_') + 1, 16), shape != Shape::Secret);
  if (shape == Shape::Secret) {
    told = {{"value", *secret}, {"expires_at", expires_at}, {"session", std::move(told)}};
  } else {
    told["client_secret"] = {{"value", *secret}, {"expires_at", expires_at}};
  }
  exchange.answer({.body = json_text(told) + "\n"});
}

}  // namespace

std::vector<Route> client_secret_routes(ClientSecrets& secrets) {
  std::vector<Route> routes;
  for (const auto& [path, shape] :
       {std::pair("/v1/realtime/client_secrets", Shape::Secret),
        std::pair("/v1/realtime/sessions", Shape::Session),
        std::pair("/v1/realtime/transcription_sessions", Shape::TranscriptionSession)}) {
    routes.push_back(
        {.method = "POST",
         .path = path,
         .help = "A secret for a minute, which opens one socket of Realtime.",
         .handler = [&secrets, shape = shape](
                        Exchange& exchange) { answer_secret(secrets, shape, exchange); },
         .accepts = Accepts::Text,
         .rights = {Right::Hear}});
  }
  return routes;
}

}  // namespace mynah::server
