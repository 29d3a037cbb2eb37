// Conversation: somebody speaks, is replied to, and may speak over the reply. Its clock is the
// samples that are captured: a file, a test, a desk and a socket drive it alike.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "speech/voice_detector.h"
#include "talk/loop/chat_record.h"
#include "talk/loop/counted_work.h"
#include "talk/loop/place_watch.h"
#include "talk/loop/repeater.h"
#include "talk/loop/spoken_reply.h"
#include "talk/loop/talk_event.h"
#include "talk/loop/user_turn.h"
#include "talk/organs/organs.h"
#include "talk/turns/end_rule.h"
#include "talk/turns/interruption.h"
#include "talk/turns/voice_watch.h"

namespace mynah::talk {

// What converses. They outlive the conversation.
struct TalkParts {
  // Of 16 kHz. It computes within step(): on threads that others keep busy it would wait for them.
  std::shared_ptr<const VoiceDetector> voice;
  Ear& ear;
  Mind& mind;
  Mouth& mouth;
  EndRule& end;
  Workers& workers;
};

struct TalkSettings {
  std::string system;                  // what the model is told, beside that its words are spoken
  ChatRequest request;                 // all but its messages; most_tokens bounds a reply
  std::string language;                // ISO 639-1, that is spoken; "": as it is heard
  std::vector<std::string> prompts{};  // words to expect, for the ear
  // A turn is heard when its voice has paused so long; most pauses between words are shorter.
  double hear_after_s = 0.1;
  // A turn is over when it lasts so long, and where a voice goes on that is fainter than its
  // speaker's (EndRule::longest_faint_s()).
  double longest_turn_s = 28;
  // For so long from the first sound that is played on, a voice alone does not interrupt: what
  // hears its own echo has to learn first.
  double echo_settles_s = 0;
  InterruptionTimes interruption{};
};

// One thread drives it; organs work on others.
class Conversation {
 public:
  Conversation(const TalkParts& parts, TalkSettings settings);

  // As close(), and waits for what is under way.
  ~Conversation();
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  // Has the model read what it is told before all else, so that the first reply comes as soon as
  // others.
  void warm_up();

  // Takes what was captured, 16 kHz mono, ten to twenty milliseconds of it, and appends what is to
  // be played in the same time, at Mouth::rate_hz().
  void step(std::span<const float> captured, std::vector<float>& played);

  // What happened since it was asked last.
  [[nodiscard]] std::vector<TalkEvent> take_events();

  // The reply ends here, as if somebody had said "stop".
  void stop_speaking();

  // Has a text of that language said, once, between two turns: as soon as nobody speaks.
  void ring(std::string text, std::string language);

  // Tells an event that is none of the organs'. Any thread may.
  void remark(std::string text);

  // Whether something is computed that is waited for, or will be.
  [[nodiscard]] bool is_working() const { return work_.any(); }

  // Whether nobody speaks, nothing is played, and nothing will be, unless somebody speaks.
  [[nodiscard]] bool is_at_rest() const;

  // What was played of the reply under way, to the word; "": there is none.
  [[nodiscard]] std::string said_so_far() const;

  // The conversation so far, with what was said as it was heard.
  [[nodiscard]] ChatRequest::Json messages() const;

  // Nothing more is begun; what is under way is told to stop.
  void close();

 private:
  using Clock = std::chrono::steady_clock;

  // Behind a piece of its work: whether the organ is where it was. Takes the lock.
  void look_where(Organ organ);

  // All of these want the lock.
  void tell(TalkEvent event);
  void fail_organ(OrganFault fault);
  void follow_turn();
  void follow_voice();
  void follow_pause();
  void follow_interruption();
  void follow_reply();
  // Asks for a text of what was said until that sample.
  void hear(int64_t until);
  // Where the voice ended that the turn is about.
  [[nodiscard]] int64_t voice_end() const;
  void follow_rings();
  // Tells what became of tools for the reply that is played.
  void tell_tools();
  void ask_score();
  void take_heard(uint64_t number, Result<HeardText> heard, double ear_ms);
  void take_score(int64_t at, const Result<float>& score);
  // Begins a reply to what is heard of the turn, unless the one that is prepared is to the same.
  void prepare_reply();
  void forget_prepared();
  // Ends the turn: what was heard is replied to.
  void end_turn();
  // `unheard`: from there on it was not heard.
  void drop_turn(std::optional<int64_t> unheard = std::nullopt);
  void stop_reply();
  void end_reply(bool interrupted);
  // Whether what was heard is all that was said.
  [[nodiscard]] bool heard_all() const;
  // Whether what was heard is "stop", which the reply has done.
  [[nodiscard]] bool only_stops() const;
  [[nodiscard]] double ms_since(int64_t sample) const;
  [[nodiscard]] bool voice_may_interrupt() const;
  void play(size_t captured, std::vector<float>& played);

  const TalkParts parts_;
  const TalkSettings settings_;
  mutable std::mutex mutex_;
  VoiceWatch watch_;
  ChatRecord record_;
  std::optional<UserTurn> turn_;
  std::shared_ptr<SpokenReply> prepared_;  // to what is heard of the turn; null: none
  std::string prepared_for_;               // its question
  std::shared_ptr<SpokenReply> speaking_;  // that is played; null: none
  bool speaking_told_ = false;             // its first sound
  TurnTimes speaking_times_;
  int64_t speaking_since_ = 0;  // where the voice ended that it replies to
  std::optional<int64_t> first_sound_;
  PlaceWatch places_;

  // A text that is to be said, and its language.
  struct Ring {
    std::string text;
    std::string language;
  };

  Repeater repeater_;
  std::deque<Ring> rings_;
  std::optional<Ring> ringing_;  // that `speaking_` is
  std::vector<TalkEvent> events_;
  uint64_t hearings_ = 0;
  int64_t owed_ = 0;  // samples of sound by the rates' ratio, times 16000
  bool voice_failed_ = false;
  bool closed_ = false;
  std::stop_source ends_;
  CountedWork work_;  // the first to go
};

}  // namespace mynah::talk
