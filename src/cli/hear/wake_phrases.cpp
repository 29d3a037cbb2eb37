#include "cli/hear/wake_phrases.h"

#include <array>
#include <utility>

#include "speech/transcript.h"

namespace mynah::cli {

namespace {

// Looks through segments as they come.
class PhraseObserver final : public RecognizerObserver {
 public:
  PhraseObserver(const std::vector<WakePhrase>& phrases,
                 const std::function<void(const PhraseDetection&)>& tell, double start_s)
      : phrases_(phrases), tell_(tell), start_s_(start_s) {}

  void on_segment(size_t /*job*/, const Segment& segment) override {
    for (const WakePhrase& phrase : phrases_) {
      if (const auto match = phrase.find(segment.text)) {
        tell_({.time_s = start_s_ + segment.start_s,
               .phrase = phrase.text(),
               .distance = match->distance,
               .heard = segment.text});
      }
    }
  }

  void on_progress(size_t /*job*/, double done_s, std::optional<double> /*duration_s*/) override {
    done_s_ = done_s;
  }

  void on_done(size_t /*job*/, const Result<Transcript>& result) override {
    status_ = result ? Status() : std::unexpected(result.error());
  }

  [[nodiscard]] Result<double> heard_s() const {
    return status_ ? Result<double>(done_s_) : std::unexpected(status_.error());
  }

 private:
  const std::vector<WakePhrase>& phrases_;
  const std::function<void(const PhraseDetection&)>& tell_;
  double start_s_;
  double done_s_ = 0;
  Status status_ = fail(ErrorCode::Cancelled, "nothing was heard");
};

}  // namespace

Result<std::vector<WakePhrase>> make_phrases(const std::vector<std::string>& texts) {
  std::vector<WakePhrase> phrases;
  for (const std::string& text : texts) {
    MYNAH_TRY(WakePhrase phrase, WakePhrase::create(text));
    phrases.push_back(std::move(phrase));
  }
  return phrases;
}

Result<double> hear_phrases(const Recognizer& recognizer, const std::vector<WakePhrase>& phrases,
                            const std::string& file, const AudioOpenOptions& audio,
                            const std::function<void(const PhraseDetection&)>& tell,
                            const std::stop_token& stop) {
  PhraseObserver observer(phrases, tell, audio.start_s);
  const std::array<RecognizerJob, 1> jobs = {
      RecognizerJob{.name = file, .open = [&file, &audio] { return open_audio(file, audio); }}};
  recognizer.run(jobs, {}, observer, stop);
  return observer.heard_s();
}

}  // namespace mynah::cli
