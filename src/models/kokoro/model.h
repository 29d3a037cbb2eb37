// Kokoro-82M: phonemes to speech (hexgrad/kokoro, Apache-2.0; StyleTTS2, Li et al. 2023, arXiv
// 2306.07691).
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "models/kokoro/albert.h"
#include "models/kokoro/decoder.h"
#include "models/kokoro/durations.h"
#include "models/kokoro/generator.h"
#include "models/kokoro/text_encoder.h"

namespace mynah::kokoro {

// What a part of the model took.
struct StageTime {
  std::string_view stage;  // "durations"
  double seconds = 0.0;    // of the clock on the wall
};

// A sentence, spoken.
struct Speech {
  std::vector<float> samples;     // at kRate
  std::vector<int32_t> frames;    // of kFrameSamples: of the pause before, each phoneme, the pause
  std::vector<StageTime> stages;  // in the order of their work
};

// Two stages: the acoustic one, from phonemes to durations, pitch, energy and the text's features,
// and the vocoder, which makes sound of them: decoder and generator. Each may be on a device of its
// own; then text, pitch and energy, as f32, are all that passes between them.
class Kokoro {
 public:
  Kokoro() = default;

  // Both hold the checkpoint's modules, as read_onnx_weights() names them.
  static Result<Kokoro> load(const Weights& acoustic, const Weights& vocoder);

  static Result<Kokoro> load(const Weights& w) { return load(w, w); }

  [[nodiscard]] const Sizes& sizes() const { return sizes_; }

  // ids of 1 to kMostPhonemes phonemes, without pauses around them. style (twice its size), the
  // voice's of as many phonemes; speed above 0. Throws DeviceError.
  [[nodiscard]] Speech speak(std::span<const int32_t> ids, std::span<const float> style,
                             float speed) const;

 private:
  Backend* acoustic_ = nullptr;
  Backend* vocoder_ = nullptr;
  Sizes sizes_;
  Albert albert_;
  Linear prosodic_;
  DurationPredictor durations_;
  MelodyPredictor melody_;
  TextEncoder text_;
  Decoder decoder_;
  Generator generator_;
};

}  // namespace mynah::kokoro
