// Recognizer: speech to text. Recordings in batches, or a live session that commits text as it
// goes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "audio/source.h"
#include "base/result.h"
#include "speech/hearing.h"
#include "speech/recognizer_options.h"
#include "speech/transcript.h"
#include "speech/voice_event.h"

namespace mynah {

class WindowQueue;

// One recording to recognise; opened when its turn comes.
struct RecognizerJob {
  std::string name;
  std::function<Result<std::unique_ptr<AudioSource>>()> open;  // 16 kHz mono
};

// Hears of results while recordings are recognised. Calls come one at a time, not all from one
// thread; job is the index into the jobs.
class RecognizerObserver {
 public:
  virtual ~RecognizerObserver() = default;

  // The first window is about to be heard: what was waited for is over. Beside other calls, from a
  // thread that computes; not where nothing has to be heard.
  virtual void on_begun() {}

  // A window of a job was heard, so many together with it in one batch.
  virtual void on_window(size_t /*job*/, size_t /*together*/) {}

  // A segment that changes no more; within one job in order of time.
  virtual void on_segment(size_t /*job*/, const Segment& /*segment*/) {}

  // Seconds of the recording that are done, and its length where known.
  virtual void on_progress(size_t /*job*/, double /*done_s*/,
                           std::optional<double> /*duration_s*/) {}

  // A job is done whose turn to be reported has not come, with the segments that were reported:
  // what must not be lost can be kept at once.
  virtual void on_finished(size_t /*job*/, const Transcript& /*transcript*/) {}

  // The end of a job: in the order of the jobs.
  virtual void on_done(size_t job, const Result<Transcript>& result) = 0;
};

// What a live session knows so far. Committed segments never change, nor do agreed words: the
// segments that are committed next begin with them. Partial text may.
struct LiveText {
  std::vector<Segment> committed;  // new since the last call
  std::string agreed;              // of what is not committed yet
  std::string partial;             // behind that
  std::string language;            // that was heard; "" until then, and where it was given
  float language_probability = 0;
  std::vector<VoiceEvent> events;  // new since the last call
  // Turns that were ended since the session began, and how many of them have their text.
  int64_t turns_ended = 0;
  int64_t turns_heard = 0;
};

// By the clock: how long nothing has come of a live recording.
struct SenderSilence {
  double since_last_s = 0;    // since the last samples came
  double since_played_s = 0;  // since they, and what came before, would all have been played: less
                              // where they came faster than they were spoken
};

// How much of it ends what was said: as a pause of the recording does where the samples end in one,
// more where they end in speech, which a slow network may have cut.
inline constexpr double kSenderPause_s = 0.6;
inline constexpr double kSenderStall_s = 2.0;

// What waits to be heard by a model.
struct HearingLoad {
  size_t urgent_windows = 0;  // that wait, or are about to come
  size_t bulk_windows = 0;
  double window_ms = 0;  // that one took of late; 0: none was heard yet
};

// A model of speech to text. Const after load; one Recognizer serves many sessions.
class Recognizer {
 public:
  virtual ~Recognizer() = default;

  // One live recording: push 16 kHz mono samples as they come. Each call returns what is new. Once
  // stop is requested it ends with Cancelled, as every later one does until reset().
  class Session {
   public:
    virtual ~Session() = default;

    // Takes what comes next; its text comes with this call or a later one. Where a minute and more
    // waits to be heard it waits, too, so that the sender is slowed down.
    virtual Result<LiveText> push(std::span<const float> samples,
                                  const std::stop_token& stop = {}) = 0;

    // Nothing comes: to be called now and then. Ends what was said where the silence is long enough
    // for that. Times stay those of the samples.
    virtual Result<LiveText> idle(const SenderSilence& silence,
                                  const std::stop_token& stop = {}) = 0;

    // Waits for what was asked of the model so far: the text of what was ended, and a draft of what
    // goes on.
    virtual Result<LiveText> wait(const std::stop_token& stop = {}) = 0;

    // Ends what was said here, without waiting for silence; its text comes with a later call.
    virtual Result<LiveText> end_turn(const std::stop_token& stop = {}) = 0;

    // Calls it, from any thread, whenever a later call has something new to tell. It is told to the
    // end of the session; before its first samples.
    virtual void on_answer(std::function<void()> told) = 0;

    // The same as end_turn(), and waits for the text of all that came.
    virtual Result<LiveText> commit(const std::stop_token& stop = {}) = 0;

    // The same: the recording is over.
    virtual Result<LiveText> flush(const std::stop_token& stop = {}) = 0;
    virtual void reset() = 0;
  };

  // Refused as check() refuses, or where the device that is to hear fails meanwhile.
  [[nodiscard]] virtual Result<std::unique_ptr<Session>> session(
      const RecognizerOptions& options) const = 0;

  // Recognises the jobs, windows of several in one batch; a bad one does not stop the others. After
  // stop is requested each unfinished job ends with ErrorCode::Cancelled, its segments so far
  // having been reported.
  virtual void run(std::span<const RecognizerJob> jobs, const RecognizerOptions& options,
                   RecognizerObserver& observer, const std::stop_token& stop) const = 0;

  [[nodiscard]] virtual std::string model_name() const = 0;
  [[nodiscard]] virtual bool multilingual() const = 0;

  [[nodiscard]] virtual ModelFacts facts() const { return {}; }

  [[nodiscard]] virtual HearingLoad load() const { return {}; }

  // What its windows are heard through, for who brings windows himself; null: it hears in none.
  [[nodiscard]] virtual std::shared_ptr<WindowQueue> windows() const { return nullptr; }

  // The bytes of one of Segment::tokens, which may be part of a character; empty where the family
  // has no tokens.
  [[nodiscard]] virtual std::string token_text(int32_t /*token*/) const { return {}; }

  // What options this model refuses, before any audio is opened: translation with an English model,
  // unknown languages.
  [[nodiscard]] virtual Status check(const RecognizerOptions& options) const = 0;
};

// PocketSphinx's US-English model: needs no weights of ours; says what it is in Transcript::notes.
Result<std::shared_ptr<const Recognizer>> builtin_recognizer();

}  // namespace mynah
