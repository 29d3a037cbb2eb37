// Responses of a Dialogue: which may be, what they are to say, and how they end.
#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "server/chat/write_replies.h"
#include "server/http/errors.h"
#include "server/http/json_members.h"
#include "server/http/json_text.h"
#include "server/realtime/chat_messages.h"
#include "server/realtime/dialogue.h"
#include "server/realtime/reply_wish.h"
#include "speech/languages.h"
#include "text/languages.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kNoLanguageModel =
    "response.create: there is no language model here that would think of a reply; wanted a text "
    "to speak: response.input with it and no instructions, or an assistant's item before";
// A client's word for a session whose texts are given, though a language model is here.
constexpr const char* kNoModel = "none";
// The same for whichever is here.
constexpr const char* kAnyModel = "auto";
// Of sound, as OpenAI's speech models are charged, roughly.
constexpr int64_t kTokens_per_s = 20;
// Beside that for the conversation.
constexpr size_t kMostAside = 4;

Json usage_of(const Replied& replied) {
  constexpr int64_t kSecond_ms = 1000;
  const int64_t sound = replied.sound_ms * kTokens_per_s / kSecond_ms;
  const Generated& spent = replied.spent;
  return {{"total_tokens", spent.prompt_tokens + spent.tokens + sound},
          {"input_tokens", spent.prompt_tokens},
          {"output_tokens", spent.tokens + sound},
          {"input_token_details",
           {{"text_tokens", spent.prompt_tokens},
            {"audio_tokens", 0},
            {"image_tokens", 0},
            {"cached_tokens", spent.cached_tokens},
            {"cached_tokens_details",
             {{"text_tokens", spent.cached_tokens}, {"audio_tokens", 0}, {"image_tokens", 0}}}}},
          {"output_token_details", {{"text_tokens", spent.tokens}, {"audio_tokens", sound}}}};
}

bool is_blank(const std::string& text) {
  return text.find_first_not_of(" \t\r\n") == std::string::npos;
}

// What instructions say besides where somebody speaks another language than English, in which most
// instructions are, so that models that are small do not answer in theirs.
std::string told_language(const std::string& language) {
  const auto known = find_language(language);
  if (!known || is_english(language)) {
    return {};
  }
  std::string name(languages()[*known].name);
  name.front() = ascii_upper(name.front());
  return fmt::format("\n\nThe user speaks {0} now. Answer in {0}, unless you are told otherwise.",
                     name);
}

bool is_aside(const Json& response) {
  const auto conversation = response.find("conversation");
  return conversation != response.end() && *conversation == "none";
}

}  // namespace

bool Dialogue::writes() const {
  return settings_.model() != kNoModel && !around_.service.chats().models().empty();
}

std::string Dialogue::writer() const {
  return settings_.model() == kAnyModel ? std::string() : settings_.model();
}

Dialogue::Active* Dialogue::active(const std::string& response_id) {
  const auto found = std::ranges::find(active_, response_id, &Active::response_id);
  return found == active_.end() ? nullptr : &*found;
}

Dialogue::Active* Dialogue::active_in_conversation() {
  const auto found = std::ranges::find(active_, true, &Active::in_conversation);
  return found == active_.end() ? nullptr : &*found;
}

std::expected<std::vector<Json>, Dialogue::Refusal> Dialogue::items_of_input(
    const Json& input, std::set<std::string>* unheard) const {
  std::vector<Json> items;
  const Json all = input.is_array() ? input : Json::array();
  for (const Json& one : all) {
    const Members members(one, "response.input.");
    const auto id = members.text("id");
    const auto type = members.text("type");
    if (!type || *type != "item_reference") {
      auto own = kept_item(one, {});
      if (!own) {
        Refusal refused = refusal_of(own.error());
        refused.field = "response.input";
        refused.error.message = "response.create: response.input: " + refused.error.message;
        return std::unexpected(std::move(refused));
      }
      items.push_back(*std::move(own));
      continue;
    }
    auto kept = id ? conversation_.find(*id) : std::nullopt;
    if (!kept) {
      return std::unexpected(
          Refusal{.error = {ErrorCode::NotFound,
                            fmt::format("response.create: response.input: there is no item '{}'",
                                        id.value_or(""))},
                  .field = "response.input"});
    }
    if (unheard != nullptr && unheard_.contains(*id)) {
      unheard->insert(*id);
    }
    items.push_back(*std::move(kept));
  }
  return items;
}

std::expected<std::string, Dialogue::Refusal> Dialogue::text_for(const Json& response) const {
  const Members members(response, "response.");
  const auto instructions = members.text("instructions");
  std::string text;
  if (const Json* const input = members.find("input")) {
    const auto items = items_of_input(*input, nullptr);
    if (!items) {
      return std::unexpected(items.error());
    }
    for (const Json& item : *items) {
      const std::string said = text_of_item(item);
      text += (text.empty() || said.empty() ? "" : "\n") + said;
    }
  } else if (!given_.empty() && conversation_.last_id() == given_) {
    text = text_of_item(conversation_.find(given_).value_or(Json::object()));
  }
  const bool thinks = !instructions || !instructions->empty();
  if (thinks || is_blank(text)) {
    return std::unexpected(Refusal{.error = {ErrorCode::Unsupported, kNoLanguageModel},
                                   .field = "response",
                                   .code = "language_model_missing"});
  }
  return text;
}

Dialogue::Done Dialogue::check_response(const Json& response) {
  if (settings_.is_transcription()) {
    return refuse(ErrorCode::Unsupported,
                  "response.create: a session of transcription says nothing; wanted one of "
                  "session.type realtime");
  }
  if (const Active* const other = active_in_conversation();
      other != nullptr && !is_aside(response)) {
    return refuse(ErrorCode::InvalidInput,
                  fmt::format("response.create: the response {} is still on its way; wait for its "
                              "response.done, or cancel it",
                              other->response_id),
                  {}, "conversation_already_has_active_response");
  }
  if (is_aside(response) && std::ranges::count(active_, false, &Active::in_conversation) >=
                                static_cast<ptrdiff_t>(kMostAside)) {
    return refuse(ErrorCode::Busy,
                  fmt::format("response.create: {} responses outside of the conversation are on "
                              "their way, which is the most",
                              kMostAside),
                  {}, "too_many_active_responses");
  }
  if (const Status allowed = around_.turns.check_audio(); !allowed) {
    return refuse(allowed.error().code, "response.create: " + allowed.error().message, {},
                  kLimited);
  }
  return {};
}

std::expected<Reply, Dialogue::Refusal> Dialogue::reply_for(const Json& response,
                                                            Active& active) const {
  const bool written = writes();
  auto wish = settings_.speaking_for(response);
  if (!wish) {
    return std::unexpected(refusal_of(wish.error()));
  }
  const bool speaks = wish->sound || !written;
  if ((speaks && !rights_.has(Right::Speak)) || (written && !rights_.has(Right::Think))) {
    return std::unexpected(
        Refusal{.error = {ErrorCode::InvalidInput,
                          fmt::format("response.create: the key has no right to have something {}",
                                      speaks && !rights_.has(Right::Speak) ? "spoken" : "written")},
                .code = "insufficient_rights"});
  }
  Reply reply{.response_id = active.response_id,
              .wish = *std::move(wish),
              .in_conversation = active.in_conversation};
  if (!written) {
    auto text = text_for(response);
    if (!text) {
      return std::unexpected(std::move(text).error());
    }
    reply.text = *std::move(text);
    return reply;
  }
  const Json fields = settings_.writing_for(response);
  if (const auto instructions = Members(response, "response.").text("instructions");
      !instructions) {
    return std::unexpected(refusal_of(instructions.error()));
  }
  auto asked = written_wish(fields, "response.");
  if (!asked) {
    return std::unexpected(refusal_of(asked.error()));
  }
  if (const Json* const input = Members(response).find("input")) {
    if (const auto items = items_of_input(*input, &active.unheard); !items) {
      return std::unexpected(items.error());
    }
  } else {
    active.unheard = unheard_;
  }
  asked->model = writer();
  // What is read for a conversation is kept for it; what is asked beside it is no part of it.
  asked->chat.conversation =
      around_.name + (active.in_conversation ? "" : " " + active.response_id);
  reply.asked = *std::move(asked);
  return reply;
}

Json Dialogue::told_response(const Active& active, const SpeakingWish& wish) const {
  const Json fields = settings_.writing_for(active.asked);
  Json told = {{"object", "realtime.response"},
               {"id", active.response_id},
               {"status", "in_progress"},
               {"status_details", nullptr},
               {"output", Json::array()},
               {"conversation_id", active.in_conversation ? Json(conversation_id_) : Json()},
               {"output_modalities", Json::array({wish.sound ? "audio" : "text"})},
               {"max_output_tokens", fields.value("max_output_tokens", Json("inf"))},
               {"audio", {{"output", settings_.told_output(wish)}}},
               {"usage", nullptr},
               {"metadata", active.asked.value("metadata", Json())}};
  if (teller_.beta()) {
    told["modalities"] = wish.sound ? Json::array({"text", "audio"}) : Json::array({"text"});
  }
  return told;
}

Dialogue::Done Dialogue::create_response(const Json& event) {
  const auto asked = Members(event).object("response");
  if (!asked) {
    return std::unexpected(refusal_of(asked.error()));
  }
  return begin_response(*asked == nullptr ? Json::object() : **asked, false);
}

Dialogue::Done Dialogue::begin_response(const Json& response, bool of_a_turn) {
  if (auto checked = check_response(response); !checked) {
    return checked;
  }
  Active active{.response_id = teller_.new_id("resp"),
                .in_conversation = !is_aside(response),
                .of_a_turn = of_a_turn,
                .told = {},
                .asked = response};
  auto reply = reply_for(response, active);
  if (!reply) {
    return std::unexpected(std::move(reply).error());
  }
  const auto held = of_a_turn ? take_prepared(active, *reply) : nullptr;
  active.told = told_response(active, reply->wish);
  active.waiting = *std::move(reply);
  reply_owed_ = reply_owed_ && !active.in_conversation;
  teller_.tell("response.created", {{"response", active.told}});
  active_.push_back(std::move(active));
  if (held != nullptr && held->release()) {
    active_.back().waiting.reset();
    return {};
  }
  active_.back().prepared_ms.reset();
  go_on_with(active_.back());
  return {};
}

std::string Dialogue::language_for(const Active& active) const {
  return active.in_conversation && !active.asked.contains("input") ? language_ : std::string();
}

Dialogue::Done Dialogue::take_messages(const Active& active, const std::string& language,
                                       const Json* provisional, Reply& reply) const {
  const Json* const input = Members(active.asked).find("input");
  auto items = input != nullptr ? items_of_input(*input, nullptr) : conversation_.items();
  if (!items) {
    return std::unexpected(std::move(items).error());
  }
  if (provisional != nullptr) {
    items->push_back(*provisional);
  }
  std::string instructions = settings_.writing_for(active.asked)["instructions"];
  instructions += told_language(language);
  reply.asked->chat.messages = chat_messages(*items, instructions);
  reply.language = language;
  return {};
}

void Dialogue::go_on_with(Active& active) {
  if (!active.waiting || !active.unheard.empty()) {
    return;
  }
  Reply reply = *std::exchange(active.waiting, std::nullopt);
  const std::string id = active.response_id;
  if (reply.asked) {
    if (auto taken = take_messages(active, language_for(active), nullptr, reply); !taken) {
      // One was deleted meanwhile.
      end_reply({.response_id = id, .status = std::unexpected(std::move(taken).error().error)});
      return;
    }
  }
  if (!around_.give(std::move(reply), active.stop)) {
    end_reply(
        {.response_id = id, .status = fail(ErrorCode::Busy, "all threads are busy; ask again")});
  }
}

void Dialogue::heard(const std::string& item_id) {
  unheard_.erase(item_id);
  std::vector<std::string> ids;
  std::ranges::transform(active_, std::back_inserter(ids), &Active::response_id);
  for (const std::string& id : ids) {
    if (Active* const waiting = active(id)) {
      waiting->unheard.erase(item_id);
      go_on_with(*waiting);
    }
  }
}

void Dialogue::reply_to_turn() {
  if (!reply_owed_ || is_speaking_ || !turns_.empty() || active_in_conversation() != nullptr) {
    return;
  }
  reply_owed_ = false;
  if (const Done begun = begin_response(Json::object(), true); !begun) {
    const Refusal& refused = begun.error();
    teller_.tell_error(refused.error, {}, refused.field, refused.code);
  }
}

Dialogue::Done Dialogue::cancel_response(const Json& event) {
  const auto id = Members(event).text("response_id");
  Active* const cancelled = id && !id->empty() ? active(*id) : active_in_conversation();
  if (cancelled == nullptr) {
    return refuse(ErrorCode::InvalidInput,
                  "Cancellation failed: response.cancel: there is no such response on its way",
                  "response_id", "response_cancel_not_active");
  }
  interrupt(*cancelled, "client_cancelled");
  return {};
}

// What was sent the client has; what is still being spoken ends.
Dialogue::Done Dialogue::clear_output(const Json& /*event*/) {
  Active* const spoken = active_in_conversation();
  const Json id = spoken == nullptr ? Json() : Json(spoken->response_id);
  teller_.tell("output_audio_buffer.cleared", {{"response_id", id}});
  if (spoken != nullptr) {
    interrupt(*spoken, "client_cancelled");
  }
  return {};
}

void Dialogue::interrupt(Active& active, std::string reason) {
  if (!active.reason.empty()) {
    return;
  }
  active.reason = std::move(reason);
  active.stop.request_stop();
  if (active.waiting) {
    end_reply({.response_id = active.response_id, .status = fail(ErrorCode::Cancelled, "stopped")});
  }
}

void Dialogue::tell_end(const Active& active, const Replied& replied) {
  const bool cancelled = !replied.status && replied.status.error().code == ErrorCode::Cancelled;
  Json response = active.told;
  Json& details = response["status_details"];
  if (cancelled) {
    details = {{"type", "cancelled"}, {"reason", active.reason}};
  } else if (!replied.status) {
    details = {{"type", "failed"},
               {"error", parse_object(openai_error_text(replied.status.error(), {},
                                                        replied.code))["error"]}};
  } else if (replied.cut) {
    details = {{"type", "incomplete"}, {"reason", "max_output_tokens"}};
  }
  response["status"] = details.is_null() ? Json("completed") : details["type"];
  response["output"] = replied.output;
  response["usage"] = usage_of(replied);
  if (!replied.notes.empty()) {
    response["mynah_notes"] = notes_json(replied.notes);
  }
  if (active.prepared_ms) {
    response["mynah_prepared_ms"] = *active.prepared_ms;
  }
  teller_.tell("response.done", {{"response", std::move(response)}});
  tell_limits();
}

void Dialogue::tell_limits() {
  const KeyRing::AllLeft left = around_.turns.left();
  Json limits = Json::array();
  const auto add = [&limits](const char* name, const std::optional<KeyRing::Left>& one,
                             int64_t each) {
    if (one) {
      const auto scaled = [each](double value) {
        return static_cast<int64_t>(value * static_cast<double>(each));
      };
      limits.push_back({{"name", name},
                        {"limit", scaled(one->limit)},
                        {"remaining", scaled(one->left)},
                        {"reset_seconds", std::chrono::duration<double>(one->full).count()}});
    }
  };
  add("requests", left.requests, 1);
  add("tokens", left.audio_s, kTokens_per_s);
  if (!limits.empty()) {
    teller_.tell("rate_limits.updated", {{"rate_limits", std::move(limits)}});
  }
}

void Dialogue::end_reply(const Replied& replied) {
  const auto found = std::ranges::find(active_, replied.response_id, &Active::response_id);
  if (found == active_.end()) {
    return;
  }
  const Active ended = std::move(*found);
  active_.erase(found);
  tell_end(ended, replied);
  if (!ended.in_conversation) {
    return;
  }
  // A noise that broke off a reply before its first word does not leave somebody without one.
  reply_owed_ = reply_owed_ || (ended.of_a_turn && ended.reason == "turn_detected" &&
                                replied.output.empty() && !replied.status);
  if (ear_ != nullptr) {
    ear_->wait_for_turn(replied.unplayed_ms);
    reply_to_turn();
  }
}

}  // namespace mynah::server
