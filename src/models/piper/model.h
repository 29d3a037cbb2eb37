// Piper's voices: phonemes to speech by VITS (Kim, Kong and Son 2021, Conditional Variational
// Autoencoder with Adversarial Learning, arXiv:2106.06103; rhasspy/piper).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/piper/durations.h"
#include "models/piper/flow.h"
#include "models/piper/generator.h"
#include "models/piper/text_encoder.h"

namespace mynah::piper {

// How a sentence is spoken; the voice's own numbers stand in its configuration.
struct SpeechSettings {
  int64_t speaker = 0;         // below speakers()
  float length_scale = 1.0F;   // above 0; at 2 everything takes twice as long
  float noise_scale = 0.667F;  // of the sound
  float noise_w = 0.8F;        // of the durations
  uint64_t seed = 0;
};

// A sentence, spoken.
struct Speech {
  std::vector<float> samples;
  std::vector<int32_t> frames;  // of each id, in frames of frame_samples()
};

// Two stages: the acoustic one, from phonemes to durations and frames of the latent sound, and the
// vocoder, the generator. Each may be on a device of its own; then those frames, as f32, are all
// that passes between them.
class Piper {
 public:
  Piper() = default;

  // As the options say; phonemes and durations always in f32, since roundings there change how long
  // a sentence lasts, and they are the smaller part of the work. With int8, those parts of the
  // generator are bf16 where int8 is heard: all of it in int8 is 0.44 from f32 in log-mel magnitude
  // (mean over 20 sentences of the voice joe), so it is 0.06, and bf16 alone 0.035.
  static Result<Piper> load(const OnnxVoice& voice, const StageWeights& acoustic,
                            const StageWeights& vocoder);

  static Result<Piper> load(const OnnxVoice& voice, Backend& backend,
                            const WeightOptions& options) {
    const StageWeights both{.backend = &backend, .options = options};
    return load(voice, both, both);
  }

  // At least one id, all below symbols(). An error where the voice's own numbers make durations
  // that are too long. Throws DeviceError, for durations that are no numbers too.
  [[nodiscard]] Result<Speech> speak(std::span<const int32_t> ids,
                                     const SpeechSettings& settings) const;

  [[nodiscard]] int64_t symbols() const { return text_.symbols(); }

  [[nodiscard]] int64_t speakers() const { return speakers_; }

  [[nodiscard]] int64_t frame_samples() const { return generator_.frame_samples(); }

 private:
  Backend* acoustic_ = nullptr;
  Backend* vocoder_ = nullptr;
  int64_t speakers_ = 1;
  Tensor speaker_table_;  // (speakers, of_speaker); undefined: one speaker
  TextEncoder text_;
  DurationPredictor durations_;
  Flow flow_;
  Generator generator_;
};

}  // namespace mynah::piper
