// Kokoro as a VoiceModel.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "models/kokoro/model.h"
#include "models/kokoro/phonemes.h"
#include "models/kokoro/voice_pack.h"
#include "speech/voice_loading.h"
#include "speech/voice_model.h"

namespace mynah {

class KokoroVoice final : public VoiceModel {
 public:
  KokoroVoice(std::string name, kokoro::Kokoro model, kokoro::Phonemes phonemes,
              std::vector<VoiceFile> voices);

  [[nodiscard]] std::string name() const override { return name_; }

  [[nodiscard]] int rate_hz() const override { return kokoro::kRate; }

  [[nodiscard]] const std::vector<VoiceFacts>& voices() const override { return facts_; }

  [[nodiscard]] Result<VoiceFacts> find_voice(const std::string& voice) const override;

  [[nodiscard]] size_t most_phonemes() const override { return kokoro::kMostPhonemes; }

  [[nodiscard]] const PhonemeAlphabet& alphabet() const override { return alphabet_; }

  [[nodiscard]] const VoiceReading& reading() const override { return reading_; }

  [[nodiscard]] Result<ClauseSound> speak(std::span<const PhonemeWord> words,
                                          const VoiceSettings& settings) const override;

 private:
  // The pack of a voice or a mix, read when it is first spoken with.
  Result<std::shared_ptr<const kokoro::VoicePack>> pack_of(const std::string& voice) const;
  // A voice by name, or a voice pack by its path; "" is the voice that is taken where none is
  // named.
  Result<VoiceFile> find_file(const std::string& name) const;
  [[nodiscard]] const VoiceFile& preferred() const;

  std::string name_;
  kokoro::Kokoro model_;
  kokoro::Phonemes phonemes_;
  PhonemeAlphabet alphabet_;
  VoiceReading reading_{.by = ReadBy::EveryLanguage, .language = {}, .espeak_voice = {}};
  std::vector<VoiceFile> files_;
  std::vector<VoiceFacts> facts_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::shared_ptr<const kokoro::VoicePack>> packs_;
};

}  // namespace mynah
