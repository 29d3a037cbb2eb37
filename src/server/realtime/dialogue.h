// Dialogue: what a client of Realtime sends, event by event, and what it is answered.
#pragma once

#include <chrono>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "server/http/message.h"
#include "server/http/outbox.h"
#include "server/models/service.h"
#include "server/realtime/conversation.h"
#include "server/realtime/ear.h"
#include "server/realtime/reply.h"
#include "server/realtime/settings.h"
#include "server/realtime/teller.h"

namespace mynah::server {

// One thread at a time. An event that is wrong is answered by an error; the dialogue goes on.
class Dialogue final : public EarObserver {
 public:
  struct Surroundings {
    Service& service;
    SocketTurns& turns;
    std::shared_ptr<Outbox> outbox;
    std::string name;            // of the session: what ids begin with
    std::function<void()> wake;  // go_on() has something to tell; from any thread
    // Has it spoken, and end_reply() called. False: no thread is free.
    std::function<bool(Reply reply, std::stop_source stop)> speak;
  };

  // `head`: of the request that became the client's WebSocket. The session is told at once.
  Dialogue(Surroundings surroundings, const RequestHead& head);

  // An event of the client's.
  void take(std::string_view text);
  // What was heard meanwhile is told.
  void go_on();
  void end_reply(Spoken spoken);
  // When on_time() is to be called.
  [[nodiscard]] std::optional<Ear::Clock::time_point> due() const;
  void on_time(Ear::Clock::time_point now);
  // The client left: nothing more is heard for it.
  void end();

  [[nodiscard]] Teller& teller() { return teller_; }

 private:
  using Json = nlohmann::ordered_json;

  // What programs know the client's limits by.
  static constexpr const char* kLimited = "rate_limit_exceeded";

  // What an event is refused with.
  struct Refusal {
    Error error;
    std::string field{};
    std::string code{};
  };

  using Done = std::expected<void, Refusal>;
  using Handling = Done (Dialogue::*)(const Json& event);

  struct Handler {
    std::string_view type;
    Handling handling;
  };

  // A reply on its way.
  struct Active {
    std::string response_id;
    Json item;  // as it is in the conversation
    bool in_conversation = true;
    bool truncated = false;
    std::stop_source stop{};
    std::string reason{};  // of its end before the end
    Json metadata;
  };

  [[nodiscard]] static Done refuse(ErrorCode code, std::string message, std::string field = {},
                                   std::string program_code = {});
  [[nodiscard]] static Refusal refusal_of(const FieldError& error);

  Done update_session(const Json& event);
  Done append_sound(const Json& event);
  Done commit_sound(const Json& event);
  Done clear_sound(const Json& event);
  Done create_item(const Json& event);
  Done retrieve_item(const Json& event);
  Done truncate_item(const Json& event);
  Done delete_item(const Json& event);
  Done create_response(const Json& event);
  Done cancel_response(const Json& event);
  Done clear_output(const Json& event);

  // The text that a response is to say.
  [[nodiscard]] std::expected<std::string, Refusal> text_for(const Json& response) const;
  [[nodiscard]] std::expected<std::string, Refusal> text_of_input(const Json& input) const;
  void interrupt(std::string reason);
  [[nodiscard]] Json told_response(const Active& active, const SpeakingWish& wish,
                                   std::string_view status) const;
  // {"response_id", "item_id", ...} of what is told of its only part.
  [[nodiscard]] static Json part_of(const Reply& reply);
  void tell_session(std::string_view what, bool flat_transcription);
  void add_item(Json item);

  void on_started(const HeardItem& item) override;
  void on_stopped(const HeardItem& item) override;
  void on_committed(const HeardItem& item) override;
  void on_waited_in_vain(const HeardItem& item) override;
  void on_delta(const HeardItem& item, std::string_view text) override;
  void on_completed(const HeardItem& item, const Recognizer& recognizer) override;
  void on_failed(const HeardItem& item, const Error& error) override;

  Surroundings around_;
  Teller teller_;
  std::string session_id_;
  std::string conversation_id_;
  Settings settings_;
  Conversation conversation_;
  std::string given_;     // the item by which the client last gave a text to be spoken
  Rights rights_;         // the client's key's
  bool deaf_ = false;     // no model could be opened: said once
  bool limited_ = false;  // the client has had its share of sound: said once, until it flowed back
  std::optional<Active> active_;
  std::unique_ptr<Ear> ear_;
};

}  // namespace mynah::server
