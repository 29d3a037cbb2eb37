// Ear: the sound of one client of Realtime, cut into items of what was said, and their text.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "server/metrics/socket_turns.h"
#include "server/models/service.h"
#include "server/realtime/settings.h"
#include "server/realtime/turn_rule.h"
#include "speech/end_of_turn.h"
#include "speech/pause_hearing.h"
#include "speech/recognizer.h"

namespace mynah::server {

// What was said in one go, or between two commits.
struct HeardItem {
  std::string id;
  int64_t begin_ms = 0;  // of all sound that came
  int64_t end_ms = 0;
  std::string text;
  std::string language;           // "": unknown
  std::vector<Segment> segments;  // times as the model has them
};

// Hears what becomes of a client's sound, in the order in which the client is told it.
class EarObserver {
 public:
  virtual ~EarObserver() = default;

  virtual void on_started(const HeardItem& item) = 0;
  virtual void on_stopped(const HeardItem& item) = 0;
  virtual void on_committed(const HeardItem& item) = 0;
  // Nobody said anything since then.
  virtual void on_waited_in_vain(const HeardItem& item) = 0;

  // Whether on_provisional() is to be told.
  [[nodiscard]] virtual bool wants_provisional() const { return false; }

  // The voice pauses, and all of what it said so far was heard: this, which is the item's text if
  // it says no more.
  virtual void on_provisional(const HeardItem& /*item*/, const Recognizer& /*recognizer*/) {}

  // It does say more.
  virtual void on_went_on() {}

  // More of an item's text, which stays.
  virtual void on_delta(const HeardItem& item, std::string_view text) = 0;
  virtual void on_completed(const HeardItem& item, const Recognizer& recognizer) = 0;
  virtual void on_failed(const HeardItem& item, const Error& error) = 0;
};

// One thread at a time.
class Ear {
 public:
  using Clock = std::chrono::steady_clock;

  // `new_id`: names items. `wake`: called from any thread when go_on() has something to tell.
  // `stop`: the client left. The service, the turns and the observer must outlive it.
  Ear(Service& service, SocketTurns& turns, EarObserver& observer,
      std::function<std::string()> new_id, std::function<void()> wake, std::stop_token stop);

  // From here on it hears so; what is being said ends as by commit(). NotFound and Unsupported for
  // a model or a language that is not known.
  Status configure(const HearingWish& wish);

  // Bytes of sound. InvalidInput: they are none, or too much came without a commit.
  Status append(std::string_view bytes);

  // What came so far is an item. InvalidInput: nothing came.
  Status commit();

  // What came and is no item yet is forgotten.
  void clear();

  // Tells what was heard meanwhile.
  void go_on();

  // What is spoken to the client will have come to its end when so much more was heard: its turn is
  // waited for from then on.
  void wait_for_turn(int64_t unplayed_ms);

  // When on_time() is to be called; none: never.
  [[nodiscard]] std::optional<Clock::time_point> due() const;
  // Ends the turn of a client that stopped sending; lets go of a model that hears nothing.
  void on_time(Clock::time_point now);

 private:
  struct Item {
    HeardItem heard;
    std::unique_ptr<SocketTurn> turn;
    Clock::time_point ended_at{};  // where it does not go on
    bool started = false;          // its beginning was told
    std::optional<int64_t> until;  // sample that what begins behind it is another's; none: goes on
    int64_t last_turn = 0;         // how many turns are to have their text until it has all of its
    std::string told;              // of its text
  };

  // A recording as a model hears it. Another begins where the wish changes or the client clears
  // what it sent; then this one is heard to its end.
  struct Hearer {
    explicit Hearer(int64_t begin) : begin_ms(begin) {}

    std::optional<Hearing> hearing;  // the model's lease
    std::unique_ptr<Recognizer::Session> session;
    std::optional<EndOfTurn> ends;  // semantic_vad, where a model hears the ends of turns
    int64_t begin_ms;               // of all sound that came
    int64_t samples = 0;            // that came
    std::deque<Item> items;
    std::string agreed;              // of the first one's text, behind what is committed
    PauseHearing* pauses = nullptr;  // the session's, where it hears them
    int64_t turns_ended = 0;
    int64_t turns_heard = 0;
  };

  [[nodiscard]] Result<Hearing> model_for(const HearingWish& wish,
                                          RecognizerOptions& options) const;
  Status open();
  void hear(std::span<const float> samples);
  void take(Hearer& hearer, Result<LiveText> live);
  void take_text(Hearer& hearer, LiveText live);
  void take_turns(std::span<const VoiceEvent> events);
  // Whether these samples end the turn that goes on by how it sounds, and with which silence.
  [[nodiscard]] std::optional<EndOfTurn::End> end_in(std::span<const float> piece,
                                                     const Result<LiveText>& live);
  // What was said of the item that goes on, where its voice pauses; or that it went on.
  void tell_provisional();
  // Tells what there is of the first items.
  void tell(Hearer& hearer);
  Item& begin_item(Hearer& hearer, int64_t begin_ms);
  // All of it was heard.
  void complete(Hearer& hearer, Item& item);
  // The item that goes on ends, as the voice did at that sample; it is told.
  void end_item(int64_t at);
  // That of a text which begins at that sample.
  [[nodiscard]] Item& item_at(Hearer& hearer, int64_t at);
  void fail_all(Hearer& hearer, const Error& error);
  // Another recording begins; what was committed of this one is heard to its end.
  void begin_anew();
  [[nodiscard]] bool has_open_item() const;
  [[nodiscard]] int64_t ms_at(int64_t sample) const;

  Service& service_;
  SocketTurns& turns_;
  EarObserver& observer_;
  std::function<std::string()> new_id_;
  std::function<void()> wake_;
  std::stop_token stop_;
  HearingWish wish_;
  SoundInput input_;
  TurnRule rule_;
  std::unique_ptr<Hearer> hearer_;
  std::deque<std::unique_ptr<Hearer>> retired_;
  int64_t uncommitted_ = 0;                 // samples since the last item
  bool voice_ = false;                      // between Began and Ended
  std::optional<int64_t> quiet_since_;      // sample, where nobody speaks
  int64_t went_on_ = 0;                     // where somebody began to speak again
  std::optional<std::string> provisional_;  // that was told of the item that goes on
  Clock::time_point last_came_{};
};

}  // namespace mynah::server
