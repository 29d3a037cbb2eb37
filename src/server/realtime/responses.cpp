// What a Dialogue says: texts that it is given. A language model, which would think of some, is not
// here yet.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "server/http/errors.h"
#include "server/http/json_members.h"
#include "server/http/json_text.h"
#include "server/realtime/dialogue.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kNoLanguageModel =
    "response.create: there is no language model here that would think of a reply; wanted a text "
    "to speak: response.input with it and no instructions, or an assistant's item before";

Json usage_of(const Spoken& spoken) {
  constexpr int64_t kTokens_per_s = 20;  // of sound, as OpenAI's speech models are charged, roughly
  constexpr int64_t kSecond_ms = 1000;
  const int64_t tokens = spoken.ms * kTokens_per_s / kSecond_ms;
  return {{"total_tokens", tokens},
          {"input_tokens", 0},
          {"output_tokens", tokens},
          {"input_token_details", {{"text_tokens", 0}, {"audio_tokens", 0}, {"cached_tokens", 0}}},
          {"output_token_details", {{"text_tokens", 0}, {"audio_tokens", tokens}}}};
}

Json content_of(const Spoken& spoken, const std::string& transcript, bool beta) {
  return spoken.reply.wish.sound
             ? Json{{"type", beta ? "audio" : "output_audio"}, {"transcript", transcript}}
             : Json{{"type", beta ? "text" : "output_text"}, {"text", transcript}};
}

Json told_part(const Reply& reply, const std::string& text) {
  return reply.wish.sound ? Json{{"type", "audio"}, {"transcript", text}}
                          : Json{{"type", "text"}, {"text", text}};
}

}  // namespace

std::expected<std::string, Dialogue::Refusal> Dialogue::text_of_input(const Json& input) const {
  std::string text;
  const Json items = input.is_array() ? input : Json::array();
  for (const Json& one : items) {
    const Members members(one, "response.input.");
    const auto id = members.text("id");
    const auto type = members.text("type");
    const bool named = type && *type == "item_reference";
    const Json* const kept = named && id ? conversation_.find(*id) : nullptr;
    if (named && kept == nullptr) {
      return std::unexpected(
          Refusal{.error = {ErrorCode::NotFound,
                            fmt::format("response.create: response.input: there is no item '{}'",
                                        id.value_or(""))},
                  .field = "response.input"});
    }
    const std::string said = text_of_item(named ? *kept : one);
    text += (text.empty() || said.empty() ? "" : "\n") + said;
  }
  return text;
}

std::expected<std::string, Dialogue::Refusal> Dialogue::text_for(const Json& response) const {
  const Members members(response, "response.");
  const auto instructions = members.text("instructions");
  std::string text;
  if (const Json* const input = members.find("input")) {
    auto of_input = text_of_input(*input);
    if (!of_input) {
      return of_input;
    }
    text = *std::move(of_input);
  } else if (const Json* const last = conversation_.last();
             last != nullptr && !given_.empty() && (*last)["id"] == given_) {
    text = text_of_item(*last);
  }
  const bool thinks = !instructions || !instructions->empty();
  if (thinks || text.find_first_not_of(" \t\r\n") == std::string::npos) {
    return std::unexpected(Refusal{.error = {ErrorCode::Unsupported, kNoLanguageModel},
                                   .field = "response",
                                   .code = "language_model_missing"});
  }
  return text;
}

Json Dialogue::part_of(const Reply& reply) {
  return {{"response_id", reply.response_id},
          {"item_id", reply.item_id},
          {"output_index", 0},
          {"content_index", 0}};
}

Json Dialogue::told_response(const Active& active, const SpeakingWish& wish,
                             std::string_view status) const {
  return {{"object", "realtime.response"},
          {"id", active.response_id},
          {"status", status},
          {"status_details", nullptr},
          {"output", Json::array()},
          {"conversation_id", active.in_conversation ? Json(conversation_id_) : Json()},
          {"output_modalities", Json::array({wish.sound ? "audio" : "text"})},
          {"max_output_tokens", "inf"},
          {"usage", nullptr},
          {"metadata", active.metadata}};
}

Dialogue::Done Dialogue::create_response(const Json& event) {
  if (active_) {
    return refuse(ErrorCode::InvalidInput,
                  fmt::format("response.create: the response {} is still on its way; wait for its "
                              "response.done, or cancel it",
                              active_->response_id),
                  {}, "conversation_already_has_active_response");
  }
  if (settings_.is_transcription()) {
    return refuse(ErrorCode::Unsupported,
                  "response.create: a session of transcription says nothing; wanted one of "
                  "session.type realtime");
  }
  if (!rights_.has(Right::Speak)) {
    return refuse(ErrorCode::InvalidInput,
                  "response.create: the key has no right to have something spoken", {},
                  "insufficient_rights");
  }
  const auto asked = Members(event).object("response");
  if (!asked) {
    return std::unexpected(refusal_of(asked.error()));
  }
  const Json response = *asked == nullptr ? Json::object() : **asked;
  auto wish = settings_.speaking_for(response);
  if (!wish) {
    return std::unexpected(refusal_of(wish.error()));
  }
  auto text = text_for(response);
  if (!text) {
    return std::unexpected(std::move(text).error());
  }
  if (const Status allowed = around_.turns.check_audio(); !allowed) {
    return refuse(allowed.error().code, "response.create: " + allowed.error().message, {},
                  kLimited);
  }
  Reply reply{.response_id = teller_.new_id("resp"),
              .item_id = teller_.new_id("item"),
              .text = *std::move(text),
              .wish = *std::move(wish)};
  Active active{.response_id = reply.response_id,
                .item = {{"id", reply.item_id},
                         {"object", "realtime.item"},
                         {"type", "message"},
                         {"status", "in_progress"},
                         {"role", "assistant"},
                         {"content", Json::array()}},
                .metadata = response.contains("metadata") ? response["metadata"] : Json()};
  const auto conversation = response.find("conversation");
  active.in_conversation = conversation == response.end() || *conversation != "none";
  teller_.tell("response.created",
               {{"response", told_response(active, reply.wish, "in_progress")}});
  teller_.tell("response.output_item.added",
               {{"response_id", reply.response_id}, {"output_index", 0}, {"item", active.item}});
  if (active.in_conversation) {
    const auto before = conversation_.add(active.item, {});
    Json fields = {{"previous_item_id", nullptr}, {"item", active.item}};
    if (before && !before->empty()) {
      fields["previous_item_id"] = *before;
    }
    teller_.tell("conversation.item.added", std::move(fields));
  }
  Json part = part_of(reply);
  part["part"] = told_part(reply, "");
  teller_.tell("response.content_part.added", std::move(part));
  active_ = std::move(active);
  if (!around_.speak(reply, active_->stop)) {
    end_reply({.reply = std::move(reply),
               .transcript = {},
               .status = fail(ErrorCode::Busy, "all threads are busy; ask again")});
  }
  return {};
}

Dialogue::Done Dialogue::cancel_response(const Json& event) {
  const auto id = Members(event).text("response_id");
  if (!active_ || (id && !id->empty() && *id != active_->response_id)) {
    return refuse(ErrorCode::InvalidInput, "response.cancel: there is no such response on its way",
                  "response_id", "response_cancel_not_active");
  }
  interrupt("client_cancelled");
  return {};
}

// What was sent the client has; what is still being spoken ends.
Dialogue::Done Dialogue::clear_output(const Json& /*event*/) {
  const Json id = active_ ? Json(active_->response_id) : Json();
  interrupt("client_cancelled");
  teller_.tell("output_audio_buffer.cleared", {{"response_id", id}});
  return {};
}

void Dialogue::interrupt(std::string reason) {
  if (active_ && active_->reason.empty()) {
    active_->reason = std::move(reason);
    active_->stop.request_stop();
  }
}

void Dialogue::end_reply(Spoken spoken) {
  if (!active_) {
    return;
  }
  const Active active = *std::exchange(active_, std::nullopt);
  const Reply& reply = spoken.reply;
  const bool cancelled = !spoken.status && spoken.status.error().code == ErrorCode::Cancelled;
  const char* const status = spoken.status ? "completed" : cancelled ? "cancelled" : "failed";
  const std::string_view kind = reply.wish.sound ? "output_audio_transcript" : "output_text";
  if (reply.wish.sound) {
    teller_.tell("response.output_audio.done", part_of(reply));
  }
  Json text = part_of(reply);
  text[reply.wish.sound ? "transcript" : "text"] = spoken.transcript;
  teller_.tell(fmt::format("response.{}.done", kind), std::move(text));
  Json part = part_of(reply);
  part["part"] = told_part(reply, spoken.transcript);
  teller_.tell("response.content_part.done", std::move(part));

  Json item = active.item;
  item["status"] = spoken.status ? "completed" : "incomplete";
  item["content"].push_back(content_of(spoken, spoken.transcript, teller_.beta()));
  teller_.tell("response.output_item.done",
               {{"response_id", reply.response_id}, {"output_index", 0}, {"item", item}});
  if (active.in_conversation) {
    Json kept = item;
    if (active.truncated) {
      kept["content"] = Json::array({content_of(spoken, "", teller_.beta())});
    }
    conversation_.replace(std::move(kept));
    teller_.tell("conversation.item.done", {{"previous_item_id", nullptr}, {"item", item}});
  }
  Json response = told_response(active, reply.wish, status);
  response["output"].push_back(std::move(item));
  response["usage"] = usage_of(spoken);
  if (cancelled) {
    response["status_details"] = {{"type", "cancelled"}, {"reason", active.reason}};
  } else if (!spoken.status) {
    response["status_details"] = {
        {"type", "failed"},
        {"error", parse_object(openai_error_text(spoken.status.error()))["error"]}};
  }
  teller_.tell("response.done", {{"response", std::move(response)}});
  if (ear_ != nullptr) {
    ear_->wait_for_turn();
  }
}

}  // namespace mynah::server
