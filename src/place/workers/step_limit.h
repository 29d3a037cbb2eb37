// Step limits: how long a worker may take from one operation to the next before it is said to hang.
#pragma once

#include <chrono>
#include <map>
#include <optional>

#include "place/terms/stage.h"

namespace mynah::place {

// A device that answers at all answers a short operation in this.
inline constexpr std::chrono::milliseconds kLeastStep{2000};

// The longest time between two operations of one call, by the stage that computes.
class StepLimit {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): one time is the limit of whatever computes
  StepLimit(std::chrono::milliseconds step) : step_(step) {}

  void set(Stage stage, std::chrono::milliseconds step);

  // The limit while `stage` computes; none, or one without a limit of its own: the longest of all.
  [[nodiscard]] std::chrono::milliseconds of(std::optional<Stage> stage) const;

 private:
  std::chrono::milliseconds step_;
  std::map<Stage, std::chrono::milliseconds> of_stage_;
};

// How much work a call is for each of its stages, in the stage's unit (Measurement::step_work).
using StageWork = std::map<Stage, double>;

// What was measured of the steps of a group's stages, where they are.
class StepPace {
 public:
  // The longest step, in so much work.
  void measured(Stage stage, double longest_ms, double work);

  // Of a call of so much work. Of what is not named, or is less, what was measured counts.
  [[nodiscard]] StepLimit limit(const StageWork& work = {}) const;

 private:
  struct Step {
    double longest_ms = 0;
    double work = 1;
  };

  std::map<Stage, Step> steps_;
};

}  // namespace mynah::place
