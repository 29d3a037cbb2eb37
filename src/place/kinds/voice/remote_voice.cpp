#include <algorithm>
#include <utility>

#include "base/stop_scope.h"
#include "place/kinds/voice/voice.h"
#include "place/kinds/voice/voice_wire.h"
#include "place/workers/load_limit.h"
#include "place/workers/worker_lane.h"
#include "text/utf8.h"

namespace mynah::place {
namespace {

// Sound that a phoneme makes, for the time that a clause may take: slow speech.
constexpr double kSecondsOfPhoneme = 0.15;

class RemoteVoice final : public VoiceModel {
 public:
  RemoteVoice(std::shared_ptr<WorkerLane> worker, VoiceModelFacts facts, StepPace pace)
      : worker_(std::move(worker)),
        facts_(std::move(facts)),
        alphabet_(to_code_points(facts_.phonemes)),
        pace_(std::move(pace)) {}

  [[nodiscard]] std::string name() const override { return facts_.name; }

  [[nodiscard]] int rate_hz() const override { return facts_.rate_hz; }

  [[nodiscard]] const std::vector<VoiceFacts>& voices() const override { return facts_.voices; }

  [[nodiscard]] Result<VoiceFacts> find_voice(const std::string& voice) const override {
    return worker_->ask_for<VoiceFacts>(Ask::FindVoice, pace_.limit(), {}, voice);
  }

  [[nodiscard]] size_t most_phonemes() const override {
    return static_cast<size_t>(facts_.most_phonemes);
  }

  [[nodiscard]] const PhonemeAlphabet& alphabet() const override { return alphabet_; }

  [[nodiscard]] const VoiceReading& reading() const override { return facts_.reading; }

  [[nodiscard]] Result<ClauseSound> speak(std::span<const PhonemeWord> words,
                                          const VoiceSettings& settings) const override {
    const std::vector<PhonemeWord> list(words.begin(), words.end());
    const double slowness = settings.speed > 0 ? 1 / settings.speed : 1;
    const double phonemes = phonemes_in(words);
    const StepLimit limit = pace_.limit({{kTtsAcoustic, phonemes * std::max(1.0, slowness)},
                                         {kTtsVocoder, phonemes * kSecondsOfPhoneme * slowness}});
    MYNAH_TRY(ClauseSound sound,
              worker_->ask_for<ClauseSound>(Ask::Speak, limit, stop_here(), list, settings));
    if (!is_possible(sound, words.size())) {
      worker_->refuse_answer();
    }
    return sound;
  }

 private:
  std::shared_ptr<WorkerLane> worker_;
  VoiceModelFacts facts_;
  PhonemeAlphabet alphabet_;
  StepPace pace_;
};

}  // namespace

Result<std::shared_ptr<const VoiceModel>> open_remote_voice(std::shared_ptr<WorkerLane> worker,
                                                            const VoiceModelFile& file,
                                                            const StageDevice& acoustic,
                                                            const StageDevice& vocoder,
                                                            StepPace pace) {
  MYNAH_TRY(VoiceModelFacts facts,
            worker->ask_for<VoiceModelFacts>(Ask::OpenVoice, load_limit(file.path), {}, file,
                                             acoustic, vocoder));
  if (!is_possible(facts)) {
    worker->refuse_answer();
  }
  return std::make_shared<const RemoteVoice>(std::move(worker), std::move(facts), std::move(pace));
}

}  // namespace mynah::place
