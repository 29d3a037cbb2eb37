// Hibari: a voice of 8 MB, whose networks draw spectra and whose samples are arithmetic
// (hibari-tts 0.2.1, Apache-2.0). Its phonemes are Kokoro's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/hibari/onnx_weights.h"
#include "models/hibari/synthesis.h"
#include "models/hibari/text_encoder.h"

namespace mynah::hibari {

inline constexpr int64_t kPhonemeSamples = 2 * kHop;  // of a unit of duration: 1/40 s
// What the voice was made for (tts.py, MAX_PHONEMES), without the pauses around them.
inline constexpr int64_t kMostPhonemes = 400;

struct SpeechSettings {
  float speed = 1.0F;        // above 0; at 2 everything takes half the time
  float noise_scale = 1.0F;  // of the breath in the sound
  uint64_t seed = 0;
};

// What the networks draw.
struct Drawing {
  std::vector<int32_t> units;  // of kPhonemeSamples: of the pause before, each phoneme, the pause
  std::vector<float> pitch;    // Hz, of each frame of kHop samples
  std::vector<float> spectra;  // as synthesise() takes them
};

struct Speech {
  std::vector<float> samples;  // at kRate
  std::vector<int32_t> units;  // as a drawing's
};

// Two stages: the acoustic one, from phonemes to durations and pitch, and the vocoder, from these
// and the phonemes to spectra and samples. Each may be on a device of its own: what passes between
// them passes through the host in any case.
class Hibari {
 public:
  Hibari() = default;

  // As the options say; durations and what they are made from always in f32, since roundings there
  // change how long a sentence lasts.
  static Result<Hibari> load(const OnnxWeights& weights, const StageWeights& acoustic,
                             const StageWeights& vocoder);

  static Result<Hibari> load(const OnnxWeights& weights, Backend& backend,
                             const WeightOptions& options) {
    const StageWeights both{.backend = &backend, .options = options};
    return load(weights, both, both);
  }

  // ids of 1 to kMostPhonemes phonemes below symbols(), without pauses around them. An error where
  // the voice's own numbers make durations that are too long. Throws DeviceError, for durations
  // that are no numbers too.
  [[nodiscard]] Result<Drawing> draw(std::span<const int32_t> ids, float speed) const;
  [[nodiscard]] Result<Speech> speak(std::span<const int32_t> ids,
                                     const SpeechSettings& settings) const;

  [[nodiscard]] int64_t symbols() const { return text_.symbols(); }

 private:
  Backend* acoustic_ = nullptr;
  Backend* vocoder_ = nullptr;
  // Durations and melody.
  TextEncoder melody_text_;
  Conv1d duration_;
  Conv1d duration_out_;
  Conv1d melody_in_;
  std::vector<ConvBlock> melody_;
  Conv1d melody_out_;
  // Sound.
  TextEncoder text_;
  Conv1d sound_in_;
  std::vector<ConvBlock> sound_;
  LayerNorm sound_norm_;
  Linear sound_out_;
};

}  // namespace mynah::hibari
