#include "models/wake_word/network.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "models/wake_word/graph_plan.h"

namespace mynah::wake_word {

Result<WakeNetwork> WakeNetwork::load(const TfliteModel& model) {
  return GraphPlan(model).build();
}

float WakeNetwork::step(std::span<const FeatureFrame> frames, WakeState& state) const {
  MYNAH_CHECK(frames.size() == frames_per_step_, "a step takes its number of frames");
  MYNAH_CHECK(state.memory.size() == initial_.size(), "a state of another network");
  int8_t* input = state.memory.data() + input_;
  for (const FeatureFrame& frame : frames) {
    for (const uint16_t feature : frame) {
      // As pymicro-wakeword does it, in doubles, with halves to even; but what int8 does not hold
      // is the nearest that it does, as on the devices, and does not wrap.
      const double code =
          std::nearbyint((feature * kFeatureScale / double{input_scale_}) + input_zero_);
      constexpr double kLeast = -128;
      constexpr double kMost = 127;
      *input++ = static_cast<int8_t>(std::clamp(code, kLeast, kMost));
    }
  }
  for (const Step& one : steps_) {
    run_step(one, state.memory);
  }
  const int8_t code = state.memory[output_];
  const int32_t value = output_unsigned_ ? int32_t{static_cast<uint8_t>(code)} : int32_t{code};
  return static_cast<float>(value - output_zero_) * output_scale_;
}

}  // namespace mynah::wake_word
