// Model: Smart Turn, which says how likely somebody who speaks has said all there was to say
// (pipecat-ai/smart-turn, train.py: SmartTurnV3Model). Whisper tiny's encoder over the last eight
// seconds, pooled by attention, and three layers. Const after load.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "formats/tensor_file.h"
#include "models/turn/onnx_weights.h"
#include "nn/audio_encoder.h"
#include "nn/layer_norm.h"
#include "nn/linear.h"
#include "nn/mel_filters.h"

namespace mynah::turn {

class Model {
 public:
  // The stage's backend must outlive the model. What is small (pooling and the layers after it) is
  // kept and computed in f32. InvalidInput where a tensor is missing or has another shape.
  static Result<std::shared_ptr<const Model>> load(const OnnxWeights& weights,
                                                   const StageWeights& stage);

  // Opens an ONNX export of the model, in f32 or of whole numbers.
  static Result<std::shared_ptr<const Model>> open(const std::string& path,
                                                   const StageWeights& stage);

  // Samples at 16 kHz that are looked at, the last ones: 128,000.
  [[nodiscard]] int64_t window() const { return sizes_.positions * 2 * kMelHop; }

  // Samples of turns that are under way, 16 kHz mono, of any length -> for each the probability
  // that it is at its end. A turn's is the same alone and in company.
  [[nodiscard]] std::vector<float> score(std::span<const std::span<const float>> turns) const;

  // The same of log-mel spectra (turns * 2 * positions, mels), as features() makes them.
  [[nodiscard]] std::vector<float> score_features(const Tensor& mel) const;

  // The log-mel spectra that score() makes of turns: (turns * 2 * positions, mels).
  [[nodiscard]] Tensor features(std::span<const std::span<const float>> turns) const;

  [[nodiscard]] const AudioEncoder::Sizes& sizes() const { return sizes_; }

 private:
  Model() = default;

  Status take(const Weights& coarse, const Weights& fine);

  Backend* backend_ = nullptr;
  AudioEncoder::Sizes sizes_;
  AudioEncoder encoder_;
  Linear pool_in_;   // (width -> pooled)
  Linear pool_out_;  // (pooled -> 1)
  Linear first_;
  LayerNorm first_norm_;
  Linear second_;
  Linear last_;
  Tensor filters_;  // (mels, kMelFft / 2 + 1)
};

}  // namespace mynah::turn
