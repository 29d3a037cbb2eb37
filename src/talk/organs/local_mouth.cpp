#include <utility>

#include "speech/voice_choice.h"
#include "talk/organs/local_organs.h"

namespace mynah::talk {

namespace {

class LocalMouth final : public Mouth {
 public:
  LocalMouth(SynthesizerLease lease, SpeakOptions options, VoiceFacts voice)
      : lease_(std::move(lease)), options_(std::move(options)), voice_(std::move(voice)) {}

  [[nodiscard]] int rate_hz() const override { return lease_->synthesizer->model().rate_hz(); }

  Status speak(std::string_view text, const SpeakWish& wish, SpeechObserver& observer,
               const std::stop_token& stop) override {
    const UrgencyScope now(Urgency::Interactive);
    SpeakOptions options = options_in(wish.language, *lease_->synthesizer, voice_, options_);
    options.kind = TextKind::Plain;
    options.first_phonemes = wish.first ? kEarlyPhonemes : 0;
    return lease_->synthesizer->speak(text, options, observer, stop);
  }

  [[nodiscard]] OrganFacts facts() const override {
    return {.model = lease_->synthesizer->model().name(),
            .place = lease_->device(),
            .leaves_machine = false};
  }

 private:
  SynthesizerLease lease_;
  SpeakOptions options_;
  VoiceFacts voice_;
};

}  // namespace

Result<std::unique_ptr<Mouth>> local_mouth(SynthesizerLease lease, SpeakOptions options) {
  if (options.voice.voice.empty()) {
    options.voice.voice = lease->voice;
  }
  options.language.clear();
  MYNAH_TRY(VoiceFacts voice, lease->synthesizer->check(options));
  return std::make_unique<LocalMouth>(std::move(lease), std::move(options), std::move(voice));
}

}  // namespace mynah::talk
