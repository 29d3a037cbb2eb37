#include <string>
#include <utility>
#include <vector>

#include "place/kinds/voice/voice.h"
#include "place/kinds/voice/voice_elsewhere.h"
#include "place/kinds/voice/voice_wire.h"
#include "place/workers/hosted_model.h"
#include "tensor/device_error.h"
#include "tensor/device_failure.h"

namespace mynah::place {
namespace {

class HostedVoice final : public HostedModel {
 public:
  explicit HostedVoice(HostServices& host) : host_(host) {}

  [[nodiscard]] std::optional<Result<WireWriter>> handle(Ask what, WireReader& in,
                                                         RequestStops& /*stops*/) override {
    switch (what) {
      case Ask::OpenVoice:
        return open(in);
      case Ask::Speak:
        return speak(in);
      case Ask::FindVoice:
        return find_voice(in);
      default:
        return std::nullopt;
    }
  }

  void close() override { voice_.reset(); }

  [[nodiscard]] Result<Probe> probe() override {
    return voice_ == nullptr ? not_open(kTtsGroup) : probe_voice(*voice_);
  }

 private:
  Result<WireWriter> open(WireReader& in) {
    VoiceModelFile file;
    StageDevice acoustic;
    StageDevice vocoder;
    in(file, acoustic, vocoder);
    MYNAH_TRY_STATUS(check_read(in));
    voice_.reset();
    MYNAH_TRY(auto mynah, host_.mynah(kTtsGroup, acoustic));
    if (mynah != nullptr) {
      MYNAH_TRY(voice_, open_voice_elsewhere(file, std::move(mynah)));
      return answer_of(facts_of(*voice_));
    }
    MYNAH_TRY(Backend * of_acoustic, host_.open(kTtsAcoustic, acoustic));
    MYNAH_TRY(Backend * of_vocoder, host_.open(kTtsVocoder, vocoder));
    MYNAH_TRY(voice_, load_voice(file, {.backend = *of_acoustic, .storage = acoustic.storage},
                                 {.backend = *of_vocoder, .storage = vocoder.storage}));
    return answer_of(facts_of(*voice_));
  }

  Result<WireWriter> speak(WireReader& in) {
    std::vector<PhonemeWord> words;
    VoiceSettings settings;
    in(words, settings);
    MYNAH_TRY_STATUS(check_read(in));
    if (voice_ == nullptr) {
      return not_open(kTtsGroup);
    }
    host_.begin_call(kTtsGroup);
    auto sound = voice_->speak(words, settings);
    if (!sound && is_of_device(sound.error().code)) {
      throw DeviceError(std::move(sound).error());
    }
    MYNAH_TRY(const ClauseSound clause, std::move(sound));
    return answer_of(clause);
  }

  Result<WireWriter> find_voice(WireReader& in) {
    std::string name;
    in(name);
    MYNAH_TRY_STATUS(check_read(in));
    if (voice_ == nullptr) {
      return not_open(kTtsGroup);
    }
    MYNAH_TRY(const VoiceFacts facts, voice_->find_voice(name));
    return answer_of(facts);
  }

  HostServices& host_;
  std::unique_ptr<const VoiceModel> voice_;
};

}  // namespace

std::unique_ptr<HostedModel> host_voice(HostServices& services) {
  return std::make_unique<HostedVoice>(services);
}

}  // namespace mynah::place
