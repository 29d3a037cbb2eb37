// Hibari as a VoiceModel.
#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/mapped_file.h"
#include "formats/onnx.h"
#include "models/hibari/model.h"
#include "models/hibari/onnx_weights.h"
#include "models/kokoro/phonemes.h"
#include "speech/hibari/load_hibari.h"
#include "speech/phoneme_clause.h"
#include "tensor/device_error.h"

namespace mynah {
namespace {

class HibariVoice final : public VoiceModel {
 public:
  HibariVoice(hibari::Hibari model, kokoro::Phonemes phonemes)
      : model_(std::move(model)),
        phonemes_(std::move(phonemes)),
        alphabet_(phonemes_.characters()) {}

  [[nodiscard]] std::string name() const override { return "hibari"; }

  [[nodiscard]] int rate_hz() const override { return hibari::kRate; }

  [[nodiscard]] const std::vector<VoiceFacts>& voices() const override { return voices_; }

  [[nodiscard]] Result<VoiceFacts> find_voice(const std::string& voice) const override {
    if (voice.empty() || voice == name() || voice == voices_.front().name) {
      return voices_.front();
    }
    return fail(ErrorCode::NotFound,
                fmt::format("hibari has no voice '{}'; it has {}", voice, voices_.front().name));
  }

  [[nodiscard]] size_t most_phonemes() const override { return hibari::kMostPhonemes; }

  [[nodiscard]] const PhonemeAlphabet& alphabet() const override { return alphabet_; }

  [[nodiscard]] const VoiceReading& reading() const override { return reading_; }

  [[nodiscard]] Result<ClauseSound> speak(std::span<const PhonemeWord> words,
                                          const VoiceSettings& settings) const override {
    const PhonemeClause clause(words,
                               [this](char32_t character) { return phonemes_.id(character); });
    if (clause.ids().empty()) {
      return clause.silence();
    }
    if (clause.ids().size() > most_phonemes()) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("wanted at most {} phonemes at once, found {}", most_phonemes(),
                              clause.ids().size()));
    }
    return or_device_error([&]() -> Result<ClauseSound> {
      MYNAH_TRY(hibari::Speech speech,
                model_.speak(clause.ids(), {.speed = settings.speed,
                                            .noise_scale = settings.noise_scale.value_or(1.0F),
                                            .seed = settings.seed}));
      return clause.sound(std::move(speech.samples), speech.units,
                          static_cast<size_t>(hibari::kPhonemeSamples), 0);
    });
  }

 private:
  hibari::Hibari model_;
  kokoro::Phonemes phonemes_;
  PhonemeAlphabet alphabet_;
  VoiceReading reading_{.by = ReadBy::EnglishLexicons, .language = "en", .espeak_voice = {}};
  std::vector<VoiceFacts> voices_ = {{.name = "heart", .language = "en-US", .sex = "female"}};
};

}  // namespace

Result<std::unique_ptr<const VoiceModel>> load_hibari(const std::string& path,
                                                      const VoiceLoadOptions& options,
                                                      Backend& backend) {
  MYNAH_TRY(const auto file, MappedFile::open(path));
  MYNAH_TRY(const OnnxModel graph, read_onnx_model(file));
  MYNAH_TRY(const hibari::OnnxWeights weights, hibari::read_onnx_weights(graph));
  const StagePlace acoustic{
      .backend = &backend, .storage = options.storage, .precision = options.precision};
  const StagePlace vocoder = options.vocoder.value_or(acoustic).beside(backend);
  return or_device_error([&]() -> Result<std::unique_ptr<const VoiceModel>> {
    MYNAH_TRY(auto model, hibari::Hibari::load(weights, acoustic.weights(), vocoder.weights()));
    release_idle_memory(acoustic, vocoder);
    return std::make_unique<const HibariVoice>(std::move(model), kokoro::Phonemes::of_kokoro_82m());
  });
}

}  // namespace mynah
