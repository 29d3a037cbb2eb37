#include "cli/speak/speak_cues.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mynah::cli {

namespace {

// Less than this nobody hears: no cue is spoken anew for it, nor told as late.
constexpr double kSlack_s = 0.05;
// The fastest that a synthesizer takes (Synthesizer::check).
constexpr float kFastest = 4.0F;

// Keeps a cue's clauses, until it is known that they fit.
class CueClauses final : public SpeechObserver {
 public:
  Status on_clause(const SpokenClause& clause) override {
    clauses_.push_back(clause);
    samples_ += clause.samples.size();
    return {};
  }

  void on_warning(const std::string& text) override {
    if (std::ranges::find(warnings_, text) == warnings_.end()) {
      warnings_.push_back(text);
    }
  }

  [[nodiscard]] std::vector<SpokenClause>& clauses() { return clauses_; }

  [[nodiscard]] size_t samples() const { return samples_; }

  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  std::vector<SpokenClause> clauses_;
  size_t samples_ = 0;
  std::vector<std::string> warnings_;
};

// Cues of one kind, for a warning.
class Places {
 public:
  void add(double at_s) {
    constexpr size_t kMostTold = 3;
    if (++count_ <= kMostTold) {
      told_.push_back(cue_time(at_s));
    }
  }

  [[nodiscard]] bool any() const { return count_ > 0; }

  [[nodiscard]] std::string text(std::string_view what) const {
    return fmt::format("{} {} {} (at {}{})", count_, count_ == 1 ? "cue" : "cues", what,
                       fmt::join(told_, ", "), count_ > told_.size() ? ", ..." : "");
  }

 private:
  size_t count_ = 0;
  std::vector<std::string> told_;
};

void shift(SpokenClause& clause, double by_s, size_t bytes) {
  clause.begin += bytes;
  clause.end += bytes;
  clause.start_s += by_s;
  clause.end_s += by_s;
  for (SpokenWord& word : clause.words) {
    word.start_s += by_s;
    word.end_s += by_s;
    for (SpokenPhoneme& phoneme : word.phonemes) {
      phoneme.start_s += by_s;
      phoneme.end_s += by_s;
    }
  }
}

}  // namespace

Status speak_cues(const Subtitles& subtitles, const Synthesizer& synthesizer,
                  const SpeakOptions& options, SpeakObserver& observer,
                  const std::stop_token& stop) {
  const double rate = synthesizer.model().rate_hz();
  const auto samples_at = [rate](double seconds) {
    return static_cast<size_t>(std::llround(seconds * rate));
  };
  SpeakOptions speak = options;
  speak.first_phonemes = 0;
  Places faster;
  Places over;
  Places late;
  std::vector<std::string> told;
  size_t bytes = 0;
  double end_s = 0;
  for (const SubtitleCue& cue : subtitles.cues) {
    MYNAH_TRY_STATUS(observer.silence_until(samples_at(cue.start_s)));
    const double begin_s = observer.duration_s();
    const double room_s = std::max(0.0, cue.end_s - begin_s);
    speak.voice.speed = options.voice.speed;
    CueClauses spoken;
    MYNAH_TRY_STATUS(synthesizer.speak(cue.text, speak, spoken, stop));
    double length_s = static_cast<double>(spoken.samples()) / rate;
    double factor = 1;
    // Pauses do not shrink as speech does, so that once may not be enough.
    for (int tries = 0; length_s > room_s + kSlack_s && factor < kMostCueSpeedup && tries < 3;
         ++tries) {
      factor = room_s > 0 ? std::min(factor * length_s / room_s, kMostCueSpeedup) : kMostCueSpeedup;
      speak.voice.speed = std::min(options.voice.speed * static_cast<float>(factor), kFastest);
      spoken = {};
      MYNAH_TRY_STATUS(synthesizer.speak(cue.text, speak, spoken, stop));
      length_s = static_cast<double>(spoken.samples()) / rate;
    }
    if (factor > 1) {
      faster.add(cue.start_s);
    }
    for (const std::string& warning : spoken.warnings()) {
      if (std::ranges::find(told, warning) == told.end()) {
        observer.on_warning(warning);
        told.push_back(warning);
      }
    }
    if (begin_s > cue.start_s + kSlack_s) {
      late.add(cue.start_s);
    }
    if (begin_s + length_s > cue.end_s + kSlack_s) {
      over.add(cue.start_s);
    }
    for (SpokenClause& clause : spoken.clauses()) {
      shift(clause, begin_s, bytes);
      MYNAH_TRY_STATUS(observer.on_clause(clause));
    }
    bytes += cue.text.size() + 1;
    end_s = std::max(end_s, cue.end_s);
  }
  MYNAH_TRY_STATUS(observer.silence_until(samples_at(end_s)));
  const std::string up_to = fmt::format("spoken faster, by up to {}x, to fit", kMostCueSpeedup);
  if (faster.any()) {
    observer.on_warning(faster.text(up_to));
  }
  if (over.any()) {
    observer.on_warning(over.text("longer than their time all the same"));
  }
  if (late.any()) {
    observer.on_warning(late.text("begun late, behind the one before"));
  }
  return {};
}

}  // namespace mynah::cli
