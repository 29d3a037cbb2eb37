#include "server/realtime/dialogue.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "server/hear/transcript_answer.h"
#include "server/http/errors.h"
#include "server/http/json_members.h"
#include "server/http/json_text.h"
#include "server/http/websocket.h"
#include "store/base64.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

// A client of the names that the beta had says so.
bool is_beta(const RequestHead& head) {
  const auto protocols = offered_protocols(head.headers);
  return head.headers.get("openai-beta").contains("realtime=v1") ||
         std::ranges::find(protocols, "openai-beta.realtime-v1") != protocols.end();
}

Settings settings_of(const RequestHead& head) {
  const Json granted = parse_object(head.session);  // by a client secret, which was looked at then
  const bool transcription = head.asked("intent").value_or("") == "transcription" ||
                             (granted.is_object() && granted["type"] == "transcription");
  Settings settings(transcription, std::string(head.asked("model").value_or("")));
  // speaches' words for what session.update says.
  Json asked = Json::object();
  for (const auto& [name, field] :
       {std::pair("language", "language"), std::pair("transcription_model", "model")}) {
    if (const auto value = head.asked(name)) {
      asked["audio"]["input"]["transcription"][field] = *value;
    }
  }
  static_cast<void>(settings.update(asked));  // texts are never wrong
  if (granted.is_object()) {
    static_cast<void>(settings.update(granted));
  }
  return settings;
}

Json or_null(std::string text) {
  return text.empty() ? Json() : Json(std::move(text));
}

}  // namespace

Dialogue::Dialogue(Surroundings surroundings, const RequestHead& head)
    : around_(std::move(surroundings)),
      teller_(around_.outbox, around_.name, is_beta(head)),
      session_id_("sess_" + around_.name),
      conversation_id_("conv_" + around_.name),
      settings_(settings_of(head)),
      rights_(head.rights),
      ear_(std::make_unique<Ear>(
          around_.service, around_.turns, *this, [this] { return teller_.new_id("item"); },
          around_.wake, around_.outbox->stop())) {
  settings_.set_writes(writes());
  tell_session("created", settings_.is_transcription());
}

void Dialogue::tell_session(std::string_view what, bool flat_transcription) {
  const bool flat = teller_.beta() && flat_transcription;
  const auto& turns = settings_.hearing().turns;
  settings_.set_hears_ends(turns && turns->eagerness &&
                           around_.service.turns().scorer() != nullptr);
  Json session = settings_.told(session_id_, teller_.beta());
  if (!settings_.is_transcription() && !settings_.writes()) {
    const std::string note = session.value("note", "");
    session["note"] = fmt::format(
        "{}{}there is no language model here, or the session's model is none: nothing begins a "
        "reply by itself, and response.create speaks texts that it is given",
        note, note.empty() ? "" : "; ");
  }
  teller_.tell(fmt::format("{}session.{}", flat ? "transcription_" : "", what),
               {{"session", std::move(session)}});
}

Dialogue::Done Dialogue::refuse(ErrorCode code, std::string message, std::string field,
                                std::string program_code) {
  return std::unexpected(Refusal{.error = {code, std::move(message)},
                                 .field = std::move(field),
                                 .code = std::move(program_code)});
}

Dialogue::Refusal Dialogue::refusal_of(const FieldError& error) {
  return {.error = error.error, .field = error.field};
}

bool Dialogue::waits_for_model(const std::string& model) {
  if (opened_ == model || !around_.open) {
    return false;
  }
  opened_ = model;
  waits_ = around_.open(model);
  return waits_;
}

bool Dialogue::take(std::string_view text) {
  static constexpr std::array<Handler, 12> kHandlers = {
      {{"session.update", &Dialogue::update_session},
       {"transcription_session.update", &Dialogue::update_session},
       {"input_audio_buffer.append", &Dialogue::append_sound},
       {"input_audio_buffer.commit", &Dialogue::commit_sound},
       {"input_audio_buffer.clear", &Dialogue::clear_sound},
       {"output_audio_buffer.clear", &Dialogue::clear_output},
       {"conversation.item.create", &Dialogue::create_item},
       {"conversation.item.retrieve", &Dialogue::retrieve_item},
       {"conversation.item.truncate", &Dialogue::truncate_item},
       {"conversation.item.delete", &Dialogue::delete_item},
       {"response.create", &Dialogue::create_response},
       {"response.cancel", &Dialogue::cancel_response}}};
  const Json event = parse_object(text);
  if (!event.is_object()) {
    teller_.tell_error({ErrorCode::InvalidInput, "wanted an event: an object in JSON"}, {});
    return true;
  }
  const Members members(event);
  const std::string event_id = members.text("event_id").value_or("");
  const auto type = members.text("type");
  const auto handler = type ? std::ranges::find(kHandlers, *type, &Handler::type) : kHandlers.end();
  Done done;
  if (handler == kHandlers.end()) {
    done =
        refuse(ErrorCode::InvalidInput,
               fmt::format("type: there is no event '{}' that a client sends", type.value_or("")),
               "type", "unknown_event");
  } else {
    done = (this->*handler->handling)(event);
  }
  if (!done) {
    const Refusal& refused = done.error();
    teller_.tell_error(refused.error, event_id, refused.field, refused.code);
  }
  return !std::exchange(waits_, false);
}

Dialogue::Done Dialogue::update_session(const Json& event) {
  const auto session = Members(event).object("session");
  if (!session || *session == nullptr) {
    return refuse(ErrorCode::InvalidInput, "session: wanted an object", "session");
  }
  Settings changed = settings_;
  if (const auto updated = changed.update(**session); !updated) {
    return std::unexpected(refusal_of(updated.error()));
  }
  const bool hears_anew = changed.hearing() != settings_.hearing();
  if (hears_anew && waits_for_model(changed.hearing().model)) {
    return {};
  }
  if (ear_ != nullptr) {
    if (const Status configured = ear_->configure(changed.hearing()); !configured) {
      const ErrorCode code = configured.error().code;
      const bool of_model = configured.error().message.starts_with("model: ");
      const bool of_language = code == ErrorCode::InvalidInput || code == ErrorCode::Unsupported;
      return std::unexpected(Refusal{
          .error = configured.error(),
          .field = fmt::format("session.audio.input.transcription{}", of_model      ? ".model"
                                                                      : of_language ? ".language"
                                                                                    : "")});
    }
  }
  forget_prepared();
  settings_ = std::move(changed);
  settings_.set_writes(writes());
  deaf_ = false;
  tell_session("updated", event["type"] == "transcription_session.update");
  return {};
}

Dialogue::Done Dialogue::append_sound(const Json& event) {
  if (deaf_) {
    return {};
  }
  const auto audio = event.find("audio");
  const auto bytes = audio != event.end() && audio->is_string()
                         ? bytes_of_base64(audio->get_ref<const std::string&>())
                         : fail(ErrorCode::InvalidInput, {});
  if (!bytes) {
    return refuse(ErrorCode::InvalidInput, "audio: wanted bytes in base64", "audio");
  }
  if (const Status allowed = around_.turns.check_audio(); !allowed) {
    return std::exchange(limited_, true)
               ? Done()
               : refuse(allowed.error().code,
                        "input_audio_buffer.append: " + allowed.error().message, "audio", kLimited);
  }
  limited_ = false;
  if (waits_for_model(settings_.hearing().model)) {
    return {};
  }
  if (settings_.replies_to_turns() && around_.warm_up && !std::exchange(warm_, true)) {
    around_.warm_up(writer(), settings_.speaking().voice);
  }
  if (const Status heard = ear_->append(*bytes); !heard) {
    deaf_ = heard.error().code != ErrorCode::InvalidInput;
    return std::unexpected(Refusal{.error = heard.error(), .field = "audio"});
  }
  return {};
}

Dialogue::Done Dialogue::commit_sound(const Json& /*event*/) {
  committing_ = true;
  const Status committed = ear_->commit();
  committing_ = false;
  if (!committed) {
    return std::unexpected(
        Refusal{.error = committed.error(), .code = "input_audio_buffer_commit_empty"});
  }
  return {};
}

Dialogue::Done Dialogue::clear_sound(const Json& /*event*/) {
  forget_prepared();
  ear_->clear();
  is_speaking_ = false;
  teller_.tell("input_audio_buffer.cleared", Json::object());
  return {};
}

void Dialogue::add_item(Json item) {
  const auto previous = conversation_.add(item, {});
  Json fields = {{"previous_item_id", or_null(previous.value_or(""))}, {"item", std::move(item)}};
  teller_.tell("conversation.item.added", fields);
  teller_.tell("conversation.item.done", std::move(fields));
}

Dialogue::Done Dialogue::create_item(const Json& event) {
  const Members members(event);
  const auto previous = members.text("previous_item_id");
  if (!previous) {
    return std::unexpected(refusal_of(previous.error()));
  }
  const auto found = event.find("item");
  auto item = kept_item(found == event.end() ? Json() : *found, teller_.new_id("item"));
  if (!item) {
    return std::unexpected(refusal_of(item.error()));
  }
  const auto before = conversation_.add(*item, *previous);
  if (!before) {
    const bool is_known = before.error().code == ErrorCode::InvalidInput;
    return std::unexpected(Refusal{.error = before.error(),
                                   .field = "item",
                                   .code = is_known ? "item_create_duplicate_item_id" : ""});
  }
  if (item->value("role", "") == "assistant") {
    given_ = item->value("id", "");
  } else if (item->value("role", "") == "user") {
    language_.clear();  // nobody heard it
  }
  Json fields = {{"previous_item_id", or_null(*before)}, {"item", *std::move(item)}};
  teller_.tell("conversation.item.added", fields);
  teller_.tell("conversation.item.done", std::move(fields));
  return {};
}

Dialogue::Done Dialogue::retrieve_item(const Json& event) {
  const auto id = Members(event).text("item_id");
  const auto item = id ? conversation_.find(*id) : std::nullopt;
  if (!item) {
    return refuse(ErrorCode::NotFound,
                  fmt::format("item_id: there is no item '{}'", id.value_or("")), "item_id",
                  "item_retrieve_invalid_item_id");
  }
  teller_.tell("conversation.item.retrieved", {{"item", *item}});
  return {};
}

Dialogue::Done Dialogue::truncate_item(const Json& event) {
  const Members members(event);
  const auto id = members.text("item_id");
  constexpr double kMost = 1e9;
  const auto part = members.number("content_index", 0, kMost, 0);
  const auto end = members.number("audio_end_ms", 0, kMost, -1);
  for (const auto* const number : {&part, &end}) {
    if (!*number) {
      return std::unexpected(refusal_of(number->error()));
    }
  }
  if (*end < 0) {
    return refuse(ErrorCode::InvalidInput, "audio_end_ms: wanted a number", "audio_end_ms");
  }
  const Status truncated = conversation_.truncate(id.value_or(""), static_cast<int64_t>(*end));
  if (!truncated) {
    return refuse(truncated.error().code, truncated.error().message, "item_id",
                  "item_truncate_invalid_item_id");
  }
  teller_.tell("conversation.item.truncated", {{"item_id", *id},
                                               {"content_index", static_cast<int64_t>(*part)},
                                               {"audio_end_ms", static_cast<int64_t>(*end)}});
  return {};
}

Dialogue::Done Dialogue::delete_item(const Json& event) {
  const auto id = Members(event).text("item_id");
  const Status erased = conversation_.erase(id.value_or(""));
  if (!erased) {
    return std::unexpected(Refusal{
        .error = erased.error(), .field = "item_id", .code = "item_delete_invalid_item_id"});
  }
  teller_.tell("conversation.item.deleted", {{"item_id", *id}});
  return {};
}

void Dialogue::go_on() {
  if (ear_ != nullptr) {
    ear_->go_on();
  }
}

std::optional<Ear::Clock::time_point> Dialogue::due() const {
  return ear_ == nullptr ? std::nullopt : ear_->due();
}

void Dialogue::on_time(Ear::Clock::time_point now) {
  if (ear_ != nullptr) {
    ear_->on_time(now);
    if (!ear_->due()) {
      opened_.reset();  // it lets go of its model
    }
  }
}

void Dialogue::end() {
  forget_prepared();
  ear_.reset();
}

void Dialogue::on_started(const HeardItem& item) {
  teller_.tell("input_audio_buffer.speech_started",
               {{"audio_start_ms", item.begin_ms}, {"item_id", item.id}});
  is_speaking_ = true;
  forget_prepared();
  const auto& turns = settings_.hearing().turns;
  Active* const spoken = active_in_conversation();
  if (turns && turns->interrupts && spoken != nullptr) {
    interrupt(*spoken, "turn_detected");
  }
}

void Dialogue::on_stopped(const HeardItem& item) {
  teller_.tell("input_audio_buffer.speech_stopped",
               {{"audio_end_ms", item.end_ms}, {"item_id", item.id}});
}

void Dialogue::on_committed(const HeardItem& item) {
  is_speaking_ = false;
  unheard_.insert(item.id);
  if (settings_.replies_to_turns() && !committing_) {
    turns_.insert(item.id);
  }
  add_heard(item);
}

Dialogue::Json Dialogue::heard_item(const std::string& id, Json transcript) {
  return {
      {"id", id},
      {"object", "realtime.item"},
      {"type", "message"},
      {"status", "completed"},
      {"role", "user"},
      {"content", Json::array({{{"type", "input_audio"}, {"transcript", std::move(transcript)}}})}};
}

void Dialogue::add_heard(const HeardItem& item) {
  teller_.tell("input_audio_buffer.committed",
               {{"previous_item_id", or_null(conversation_.last_id())}, {"item_id", item.id}});
  add_item(heard_item(item.id, nullptr));
}

void Dialogue::on_waited_in_vain(const HeardItem& item) {
  teller_.tell(
      "input_audio_buffer.timeout_triggered",
      {{"audio_start_ms", item.begin_ms}, {"audio_end_ms", item.end_ms}, {"item_id", item.id}});
  add_heard(item);
  reply_owed_ = reply_owed_ || settings_.replies_to_turns();
  reply_to_turn();
}

void Dialogue::on_delta(const HeardItem& item, std::string_view text) {
  if (settings_.tells_transcripts()) {
    teller_.tell("conversation.item.input_audio_transcription.delta",
                 {{"item_id", item.id}, {"content_index", 0}, {"delta", text}});
  }
}

void Dialogue::on_completed(const HeardItem& item, const Recognizer& recognizer) {
  if (auto kept = conversation_.find(item.id)) {
    (*kept)["content"][0]["transcript"] = item.text;
    conversation_.replace(*std::move(kept));
  }
  if (settings_.tells_transcripts()) {
    tell_transcript(item, recognizer);
  }
  if (!item.text.empty()) {
    language_ = language_of(item, recognizer);
  }
  const bool is_turn = turns_.erase(item.id) > 0;
  reply_owed_ = reply_owed_ || (is_turn && !item.text.empty());
  heard(item.id);
  reply_to_turn();
  forget_prepared();  // what is not taken by now will not be
}

std::string Dialogue::language_of(const HeardItem& item, const Recognizer& recognizer) const {
  if (!item.language.empty()) {
    return item.language;
  }
  const std::string& asked = settings_.hearing().language;
  return recognizer.multilingual() ? asked.substr(0, asked.find_first_of("-_")) : "en";
}

void Dialogue::tell_transcript(const HeardItem& item, const Recognizer& recognizer) {
  Json fields = {{"item_id", item.id}, {"content_index", 0}, {"transcript", item.text}};
  if (const std::string language = language_of(item, recognizer); !language.empty()) {
    fields["languages"] = Json::array({Json{{"code", language}}});
  }
  if (settings_.tells_log_probabilities()) {
    fields["logprobs"] = log_probabilities(item.segments, recognizer);
  }
  constexpr double kSecond_ms = 1000;
  fields["usage"] = {{"type", "duration"},
                     {"seconds", static_cast<double>(item.end_ms - item.begin_ms) / kSecond_ms}};
  teller_.tell("conversation.item.input_audio_transcription.completed", std::move(fields));
}

void Dialogue::on_failed(const HeardItem& item, const Error& error) {
  teller_.tell("conversation.item.input_audio_transcription.failed",
               {{"item_id", item.id},
                {"content_index", 0},
                {"error", {{"type", "server_error"}, {"message", client_message(error)}}}});
  turns_.erase(item.id);
  forget_prepared();
  heard(item.id);
  reply_to_turn();
}

}  // namespace mynah::server
