// VoiceLoudness: how loud a voice speaks by itself, so that all can be made as loud as each other.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "speech/synthesizer.h"
#include "store/voice_levels.h"

namespace mynah {

// Measures a voice once, by some sentences that it says, and keeps what it found.
class VoiceLoudness {
 public:
  // `kept`: where measurements are looked for and kept; null: nowhere but here. The model must
  // outlive it.
  VoiceLoudness(const VoiceModel& model, PhonemizerSource phonemizers,
                std::shared_ptr<VoiceLevels> kept);

  // LUFS of a voice as VoiceSettings names it; of a mix that of its voices, by their shares. None
  // where it says nothing that can be measured. Errors: the model's.
  [[nodiscard]] Result<std::optional<double>> of(const std::string& voice);

 private:
  [[nodiscard]] Result<std::optional<double>> measure(const std::string& voice) const;
  // What it says, in words that fit the model.
  [[nodiscard]] Result<std::vector<std::vector<PhonemeWord>>> read(const std::string& voice) const;

  const VoiceModel& model_;
  PhonemizerSource phonemizers_;
  std::shared_ptr<VoiceLevels> kept_;
  std::map<std::string, std::optional<double>> known_;
};

}  // namespace mynah
