#include <cstdint>
#include <mutex>
#include <stop_token>
#include <utility>

#include "speech/hearing.h"
#include "speech/wake/wake_spotter.h"
#include "talk/loop/counted_work.h"
#include "talk/loop/wake_ear.h"
#include "talk/turns/voice_watch.h"

namespace mynah::talk {

namespace {

// Looks that are under way beside who hears.
class WakeLooks {
 public:
  struct Answer {
    WakeLook look;
    Result<WakeVerdict> verdict;
  };

  WakeLooks(std::shared_ptr<WakeCheck> check, Workers& workers)
      : check_(std::move(check)), work_(workers) {}

  ~WakeLooks() {
    stop_.request_stop();
    work_.wait_for_all();
  }

  WakeLooks(const WakeLooks&) = delete;
  WakeLooks& operator=(const WakeLooks&) = delete;

  void begin(WakeLook look) {
    work_.run(Organ::Ear, [this, look = std::move(look), stop = stop_.get_token()]() mutable {
      auto verdict = check_->look(look.samples, look.phrase, look.language, stop);
      const std::lock_guard lock(mutex_);
      if (!stop.stop_requested()) {
        answers_.push_back({.look = std::move(look), .verdict = std::move(verdict)});
      }
    });
  }

  [[nodiscard]] std::vector<Answer> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(answers_, {});
  }

  [[nodiscard]] bool any() const {
    const std::lock_guard lock(mutex_);
    return !answers_.empty() || work_.any();
  }

  // Nobody waits for what is under way any more.
  void drop() {
    const std::lock_guard lock(mutex_);
    stop_.request_stop();
    stop_ = {};
    answers_.clear();
  }

 private:
  std::shared_ptr<WakeCheck> check_;
  mutable std::mutex mutex_;
  std::vector<Answer> answers_;
  std::stop_source stop_;
  CountedWork work_;  // the first to go
};

class WordWakeEar final : public WakeEar {
 public:
  WordWakeEar(std::vector<std::shared_ptr<const WakeWord>> words, std::shared_ptr<WakeCheck> check,
              Workers& workers)
      : spotter_(std::move(words), {}, check != nullptr), looks_(std::move(check), workers) {}

  Result<std::optional<WakeHit>> hear(std::span<const float> samples) override {
    WakeSpotter::Found found = spotter_.push(samples);
    for (WakeLook& look : found.looks) {
      looks_.begin(std::move(look));
    }
    if (!found.words.empty()) {
      const WakeDetection& word = found.words.front();
      return std::optional(WakeHit{.word = word.name, .end = word.sample});
    }
    for (const WakeLooks::Answer& answer : looks_.take()) {
      MYNAH_TRY(const WakeVerdict verdict, answer.verdict);
      if (const auto word = spotter_.take(answer.look, verdict)) {
        return std::optional(WakeHit{.word = word->name, .end = word->sample});
      }
    }
    return std::optional<WakeHit>();
  }

  [[nodiscard]] bool is_working() const override { return spotter_.waits() || looks_.any(); }

  void reset() override {
    looks_.drop();
    spotter_.reset();
  }

 private:
  WakeSpotter spotter_;
  WakeLooks looks_;
};

class PhraseWakeEar final : public WakeEar {
 public:
  PhraseWakeEar(WakePhrase phrase, std::string language, std::shared_ptr<const VoiceDetector> voice,
                std::shared_ptr<WakeCheck> check, Workers& workers)
      : phrase_(std::move(phrase)),
        language_(std::move(language)),
        voice_(std::move(voice)),
        looks_(std::move(check), workers) {
    watch_.emplace(voice_);
  }

  Result<std::optional<WakeHit>> hear(std::span<const float> samples) override {
    MYNAH_TRY_STATUS(watch_->push(samples));
    MYNAH_TRY_STATUS(follow());
    for (const WakeLooks::Answer& answer : looks_.take()) {
      MYNAH_TRY(const WakeVerdict verdict, answer.verdict);
      if (verdict.is_word() && phrase_.begins(verdict.heard)) {
        return std::optional(
            WakeHit{.word = phrase_.text(), .end = answer.look.begin + samples_of(verdict.end_s)});
      }
    }
    return std::optional<WakeHit>();
  }

  [[nodiscard]] bool is_working() const override { return watch_->has_turn() || looks_.any(); }

  void reset() override {
    looks_.drop();
    watch_.emplace(voice_);
    asked_until_ = 0;
  }

 private:
  // A phrase is over by then, said slowly.
  static constexpr double kPhrase_s = 1.6;
  // Pauses within it, and such as sentences have between them.
  static constexpr double kPause_s = 0.1;
  static constexpr double kSentence_s = 0.5;

  // Asks at the first pauses of a voice, and once it has lasted as long as a phrase does.
  Status follow() {
    if (!watch_->has_turn()) {
      asked_until_ = 0;
      return {};
    }
    const int64_t now = watch_->now();
    const int64_t silence = watch_->is_voice() ? 0 : now - watch_->voice_ended();
    const bool begins = watch_->voice_ended() - watch_->voice_began() < samples_of(kPhrase_s);
    const bool paused = silence >= samples_of(kPause_s) && begins && !watch_->may_be_knock() &&
                        asked_until_ <= watch_->voice_ended();
    const bool lasts = asked_until_ == 0 && watch_->is_voice() &&
                       now - watch_->voice_began() >= samples_of(kPhrase_s);
    if (paused || lasts) {
      asked_until_ = now;
      WakeDetection maybe;
      maybe.name = phrase_.text();
      maybe.sample = now;
      maybe.sure = false;
      const auto samples = watch_->samples(watch_->begin(), now);
      looks_.begin(WakeLook{.maybe = std::move(maybe),
                            .samples = {samples.begin(), samples.end()},
                            .begin = watch_->begin(),
                            .phrase = phrase_,
                            .language = language_});
    }
    if (silence >= samples_of(kSentence_s)) {
      asked_until_ = 0;
      return watch_->end_turn();
    }
    return {};
  }

  WakePhrase phrase_;
  std::string language_;
  std::shared_ptr<const VoiceDetector> voice_;
  std::optional<VoiceWatch> watch_;
  int64_t asked_until_ = 0;  // of this voice; 0: nobody was asked
  WakeLooks looks_;          // the first to go
};

}  // namespace

std::unique_ptr<WakeEar> word_wake_ear(std::vector<std::shared_ptr<const WakeWord>> words,
                                       std::shared_ptr<WakeCheck> check, Workers& workers) {
  return std::make_unique<WordWakeEar>(std::move(words), std::move(check), workers);
}

std::unique_ptr<WakeEar> phrase_wake_ear(WakePhrase phrase, std::string language,
                                         std::shared_ptr<const VoiceDetector> voice,
                                         std::shared_ptr<WakeCheck> check, Workers& workers) {
  return std::make_unique<PhraseWakeEar>(std::move(phrase), std::move(language), std::move(voice),
                                         std::move(check), workers);
}

}  // namespace mynah::talk
