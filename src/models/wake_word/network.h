// WakeNetwork: one word of microWakeWord (kahrendt/microWakeWord, v2): a streaming network in int8
// that takes some frames of features and says how likely it is that the word ends here.
//
// Each word has its own graph (sizes, how the channels are split, what the last layer sees), so the
// file's graph is what is loaded. Computes what TensorFlow Lite 2.17's own kernels do, to the bit.
// Golden: tests/models/wake_word/golden.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "formats/tflite.h"
#include "models/wake_word/micro_features.h"
#include "models/wake_word/steps.h"

namespace mynah::wake_word {

// What a stream carries from frame to frame; a copy goes its own way.
struct WakeState {
  std::vector<int8_t> memory;
};

// Const after load.
class WakeNetwork {
 public:
  // Unsupported for a graph that computes what microWakeWord's do not, InvalidInput for one that
  // does not fit together. The network owns all that it needs.
  static Result<WakeNetwork> load(const TfliteModel& model);

  // Frames of features that one step takes.
  [[nodiscard]] size_t frames_per_step() const { return frames_per_step_; }

  // Products of a step.
  [[nodiscard]] uint64_t products() const { return products_; }

  // Before the first frame.
  [[nodiscard]] WakeState initial_state() const { return {.memory = initial_}; }

  // `frames_per_step` frames; the state is carried over. From 0 to 1.
  [[nodiscard]] float step(std::span<const FeatureFrame> frames, WakeState& state) const;

 private:
  friend class GraphPlan;

  WakeNetwork() = default;

  size_t frames_per_step_ = 0;
  size_t input_ = 0;  // place in the memory
  float input_scale_ = 1;
  int32_t input_zero_ = 0;
  size_t output_ = 0;
  float output_scale_ = 1;
  int32_t output_zero_ = 0;
  bool output_unsigned_ = false;
  uint64_t products_ = 0;
  std::vector<Step> steps_;
  std::vector<int8_t> initial_;
};

}  // namespace mynah::wake_word
