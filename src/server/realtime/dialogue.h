// Dialogue: what a client of Realtime sends, event by event, and what it is answered.
#pragma once

#include <chrono>
#include <expected>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "server/http/message.h"
#include "server/http/outbox.h"
#include "server/models/service.h"
#include "server/realtime/conversation.h"
#include "server/realtime/ear.h"
#include "server/realtime/reply.h"
#include "server/realtime/reply_hold.h"
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
    // Has it given, and end_reply() called. False: no thread is free.
    std::function<bool(Reply reply, std::stop_source stop)> give;
    // Has the models opened that will be wanted, beside what else is done. Null: nobody does.
    std::function<void(std::string model, std::string voice)> warm_up{};
    // Has the model opened that is to hear, elsewhere: others want this thread meanwhile. Nothing
    // is to be taken until it is. False: no thread is free. Null: nobody does.
    std::function<bool(std::string model)> open{};
  };

  // `head`: of the request that became the client's WebSocket. The session is told at once.
  Dialogue(Surroundings surroundings, const RequestHead& head);

  // An event of the client's. False: it waits for a model that is being opened, and is to be taken
  // once more then.
  [[nodiscard]] bool take(std::string_view text);
  // What was heard meanwhile is told.
  void go_on();
  void end_reply(const Replied& replied);
  // When on_time() is to be called.
  [[nodiscard]] std::optional<Ear::Clock::time_point> due() const;
  void on_time(Ear::Clock::time_point now);
  // The client left: nothing more is heard for it.
  void end();

  [[nodiscard]] Teller& teller() { return teller_; }

  [[nodiscard]] Conversation& conversation() { return conversation_; }

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

  // A response on its way.
  struct Active {
    std::string response_id;
    bool in_conversation = true;
    bool of_a_turn = false;  // a turn's end began it
    Json told;               // of it, as it began
    Json asked;              // by the client
    // What it waits for: items whose text is still to come. Then it is given.
    std::set<std::string> unheard{};
    std::optional<Reply> waiting{};
    std::stop_source stop{};
    std::string reason{};                  // of its end before the end
    std::optional<int64_t> prepared_ms{};  // it was begun so long before its turn was over
  };

  // A reply that was begun on what was heard of a turn in a pause.
  struct Prepared {
    std::string response_id;
    SpeakingWish wish;
    std::string writer;    // as writer()
    Json fields;           // by which it is written
    Json messages;         // that it answers to
    std::string language;  // as language_
    std::shared_ptr<ReplyHold> hold;
    std::stop_source stop{};
    std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
  };

  [[nodiscard]] static Done refuse(ErrorCode code, std::string message, std::string field = {},
                                   std::string program_code = {});
  [[nodiscard]] static Refusal refusal_of(const FieldError& error);

  // Whether an event is to wait for the model that hears.
  [[nodiscard]] bool waits_for_model(const std::string& model);

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

  // Whether a language model writes responses.
  [[nodiscard]] bool writes() const;
  // That which does, by the client's name; "": whichever is here.
  [[nodiscard]] std::string writer() const;
  // The items of response.input, those that it refers to from the conversation; `unheard`: those of
  // them whose text is still to come.
  [[nodiscard]] std::expected<std::vector<Json>, Refusal> items_of_input(
      const Json& input, std::set<std::string>* unheard) const;
  // The text that a response is to say where no language model writes.
  [[nodiscard]] std::expected<std::string, Refusal> text_for(const Json& response) const;
  // Refuses a response that cannot be now.
  [[nodiscard]] Done check_response(const Json& response);
  [[nodiscard]] Active* active(const std::string& response_id);
  // That which is for the conversation; null: none is.
  [[nodiscard]] Active* active_in_conversation();
  [[nodiscard]] std::expected<Reply, Refusal> reply_for(const Json& response, Active& active) const;
  // Begins one that was asked for, or that the end of a turn asks for.
  Done begin_response(const Json& response, bool of_a_turn);
  [[nodiscard]] Json told_response(const Active& active, const SpeakingWish& wish) const;
  // That of who is answered; "": unknown.
  [[nodiscard]] std::string language_for(const Active& active) const;
  // Reads what it answers to, which is in that language. `provisional`: an item that is not in the
  // conversation yet; null: there is none.
  [[nodiscard]] Done take_messages(const Active& active, const std::string& language,
                                   const Json* provisional, Reply& reply) const;
  // Begins a reply to an item that may go on.
  void prepare_reply(const HeardItem& item, const std::string& language);
  void forget_prepared();
  // That which was prepared, where it answers to the same; the response is that from now on. Null:
  // none does.
  [[nodiscard]] std::shared_ptr<ReplyHold> take_prepared(Active& active, const Reply& reply);
  // Has it given, once what it waits for was heard.
  void go_on_with(Active& active);
  // The text of an item came, or never will.
  void heard(const std::string& item_id);
  // A turn that ended has its reply, where nothing stands against it.
  void reply_to_turn();
  // It may have ended then.
  void interrupt(Active& active, std::string reason);
  void tell_end(const Active& active, const Replied& replied);
  // What of the key's limits is left, where it has some.
  void tell_limits();
  void tell_session(std::string_view what, bool flat_transcription);
  void add_item(Json item);
  // An item of a voice's; `transcript`: null: it is to come.
  [[nodiscard]] static Json heard_item(const std::string& id, Json transcript);
  // What was heard, or is to be.
  void add_heard(const HeardItem& item);
  void tell_transcript(const HeardItem& item, const Recognizer& recognizer);
  // ISO 639-1, that an item is in; "": unknown.
  [[nodiscard]] std::string language_of(const HeardItem& item, const Recognizer& recognizer) const;

  void on_started(const HeardItem& item) override;
  void on_stopped(const HeardItem& item) override;
  void on_committed(const HeardItem& item) override;
  void on_waited_in_vain(const HeardItem& item) override;

  [[nodiscard]] bool wants_provisional() const override { return settings_.replies_to_turns(); }

  void on_provisional(const HeardItem& item, const Recognizer& recognizer) override;

  void on_went_on() override { forget_prepared(); }

  void on_delta(const HeardItem& item, std::string_view text) override;
  void on_completed(const HeardItem& item, const Recognizer& recognizer) override;
  void on_failed(const HeardItem& item, const Error& error) override;

  Surroundings around_;
  Teller teller_;
  std::string session_id_;
  std::string conversation_id_;
  Settings settings_;
  Conversation conversation_;
  std::string given_;                  // the item by which the client last gave a text to be spoken
  Rights rights_;                      // the client's key's
  bool deaf_ = false;                  // no model could be opened: said once
  bool waits_ = false;                 // the event that was taken last waits for a model
  std::optional<std::string> opened_;  // the model that was opened for this client
  bool limited_ = false;  // the client has had its share of sound: said once, until it flowed back
  std::list<Active> active_;
  std::optional<Prepared> prepared_;
  std::string language_;           // ISO 639-1, of what the user said last; "": unknown
  std::set<std::string> unheard_;  // items whose text is still to come
  std::set<std::string> turns_;    // of them: ends of turns, which are to have a reply
  bool warm_ = false;              // the models of replies were opened
  bool reply_owed_ = false;        // to what was heard
  bool is_speaking_ = false;       // the client's user
  bool committing_ = false;        // the client ends what is said: it is no turn that ended
  std::unique_ptr<Ear> ear_;
};

}  // namespace mynah::server
