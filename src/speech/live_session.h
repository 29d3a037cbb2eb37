// LiveSession: a recording that is still going on. Pauses end a turn, whose text is then committed.
// Of what is being said drafts are made, one after the other, and words on which two agree are said
// for good: the turn's text begins with them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "speech/draft_agreement.h"
#include "speech/pause_hearing.h"
#include "speech/recognizer.h"
#include "speech/sample_buffer.h"
#include "speech/turn_detector.h"
#include "speech/window_queue.h"

namespace mynah {

// One thread at a time; what is heard is heard by the queue's.
class LiveSession final : public Recognizer::Session, public PauseHearing {
 public:
  static Result<std::unique_ptr<LiveSession>> create(std::shared_ptr<WindowQueue> queue,
                                                     std::shared_ptr<const VoiceDetector> voice,
                                                     const RecognizerOptions& options);
  LiveSession(const LiveSession&) = delete;
  LiveSession& operator=(const LiveSession&) = delete;

  Result<LiveText> push(std::span<const float> samples, const std::stop_token& stop) override;
  Result<LiveText> idle(const SenderSilence& silence, const std::stop_token& stop) override;
  Result<LiveText> wait(const std::stop_token& stop) override;
  Result<LiveText> end_turn(const std::stop_token& stop) override;
  void on_answer(std::function<void()> told) override;
  Result<LiveText> commit(const std::stop_token& stop) override;
  Result<LiveText> flush(const std::stop_token& stop) override;
  void reset() override;

  void hear_pauses() override { hears_pauses_ = true; }

  [[nodiscard]] PauseDraft pause_draft() const override;

 private:
  LiveSession(std::shared_ptr<WindowQueue> queue, std::shared_ptr<const VoiceDetector> voice,
              const RecognizerOptions& options, std::unique_ptr<WindowQueue::Client> client);

  // A turn, or what there is of it, with the words of it that were said for good.
  struct Part {
    Turn turn;
    std::vector<Segment> begun;
    std::string language;  // that they were heard in; "": unknown
    std::string rest;      // that the last draft says behind them
    int64_t number = 0;    // of the turn
  };

  using Clock = std::chrono::steady_clock;

  // What the queue is asked for; one of each at a time.
  struct Asked {
    std::stop_source wanted;
    bool is_open = false;
    std::optional<Result<HeardWindow>> answer;  // under the lock
    Clock::time_point since{};
  };

  void ask(Asked& asked, const WindowTask& task, bool draft);
  // Takes the answer that came; none: it is still open, or nothing was asked.
  [[nodiscard]] std::optional<Result<HeardWindow>> answer_to(Asked& asked);
  void forget(Asked& asked);

  void take(const TurnDetector::Found& found, LiveText& live);
  // What is open is complete.
  void end_part();
  void forget_draft();
  // What can be done without waiting: takes answers, and asks for what is next.
  Status go_on(LiveText& live);
  // Goes on with each answer until it is done.
  Status wait_until(FunctionRef<bool()> done, const std::stop_token& stop, LiveText& live);
  [[nodiscard]] int64_t samples_left() const;
  void commit_first(const HeardWindow& heard, LiveText& live);
  void take_draft(const HeardWindow& draft);
  // How much may still be spoken until a word is due.
  [[nodiscard]] int64_t patience_left() const;
  [[nodiscard]] Hurry hurry() const;
  [[nodiscard]] bool draft_is_due() const;
  // The turn is to be heard up to the pause that it is in (hear_pauses()).
  [[nodiscard]] bool pause_is_due() const;
  [[nodiscard]] WindowTask task_of(const Part& part) const;
  [[nodiscard]] std::vector<Segment> segments_of(const Part& part, const HeardWindow& heard) const;
  // The text so far, around what was committed.
  [[nodiscard]] LiveText told(LiveText live) const;
  // This session ends.
  [[nodiscard]] std::unexpected<Error> end_with(Error error);
  // Whether another call follows: text that came before an error is told, and the error by that.
  enum class Call : uint8_t { OneOfMany, Last };
  template <class Step>
  Result<LiveText> listen(const std::stop_token& stop, Call call, Step step);

  std::shared_ptr<WindowQueue> queue_;
  std::shared_ptr<const VoiceDetector> voice_;
  RecognizerOptions options_;
  SampleBuffer samples_;
  std::optional<TurnDetector> turns_;
  std::deque<Part> parts_;  // complete, in order: the first is being heard
  Part open_;               // what is being said
  DraftAgreement agreement_;
  int64_t began_ = 0;        // where somebody began to speak
  int64_t word_due_ = 0;     // when so much was spoken
  int64_t patience_ = 0;     // how much was left until then as the last draft was asked for
  int64_t drafted_ = 0;      // how far the last draft that was asked for hears
  int64_t draft_until_ = 0;  // the same of the one whose text is known
  std::string draft_language_;
  bool hears_pauses_ = false;
  int64_t draft_every_ = 0;           // samples; more where the machine is slow
  std::optional<int64_t> paused_at_;  // within a turn
  std::optional<int64_t>
      cut_at_;             // in speech, as the sender stopped; until it is seen what follows
  double patience_s_ = 0;  // with a sender that stops in speech and sent faster than it plays
  int64_t next_id_ = 0;
  int64_t turns_ended_ = 0;
  double last_speech_s_ = 0;   // where the committed text ends
  std::string told_language_;  // that windows are told: asked for or heard; "": neither
  std::string language_;       // that was heard, and how surely
  float language_probability_ = 0;
  bool begun_ = false;  // something was heard
  std::vector<int32_t> previous_;
  std::optional<Error> dead_;  // nothing more comes of this session

  std::function<void()> told_answer_;  // null: nobody wants to be told
  mutable std::mutex mutex_;           // of the answers
  std::condition_variable_any answered_;
  Asked text_;
  Asked draft_;
  std::unique_ptr<WindowQueue::Client> client_;  // last: its answers come until it is gone
};

}  // namespace mynah
