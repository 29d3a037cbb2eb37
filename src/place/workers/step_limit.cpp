#include "place/workers/step_limit.h"

#include <algorithm>

namespace mynah::place {

using std::chrono::milliseconds;

void StepLimit::set(Stage stage, milliseconds step) {
  of_stage_[stage] = step;
  step_ = std::max(step_, step);
}

milliseconds StepLimit::of(std::optional<Stage> stage) const {
  const auto found = stage ? of_stage_.find(*stage) : of_stage_.end();
  return found == of_stage_.end() ? step_ : found->second;
}

void StepPace::measured(Stage stage, double longest_ms, double work) {
  steps_[stage] = {.longest_ms = longest_ms, .work = work};
}

StepLimit StepPace::limit(const StageWork& work) const {
  // A longer operation is given so many times what it was measured to take.
  constexpr double kTimes = 20;
  constexpr auto kLeast_ms = static_cast<double>(kLeastStep.count());
  constexpr double kMost_ms = 1e9;  // eleven days: what was measured may be nonsense
  StepLimit limit(kLeastStep);
  for (const auto& [stage, step] : steps_) {
    const auto asked = work.find(stage);
    const double growth = asked == work.end() ? 1.0 : std::max(1.0, asked->second / step.work);
    const double limit_ms = std::clamp(kTimes * step.longest_ms * growth, kLeast_ms, kMost_ms);
    limit.set(stage, milliseconds(static_cast<int64_t>(limit_ms)));
  }
  return limit;
}

}  // namespace mynah::place
