// Measurer: what a plan goes by: what was measured of a model where it may be, or is proven now.
#pragma once

#include <optional>
#include <string>

#include "place/plans/plan.h"
#include "place/plans/stages_apart.h"
#include "place/state/placement_context.h"
#include "place/state/trust.h"
#include "place/state/wishes.h"

namespace mynah::place {

// Of one plan at a time. Remembers nothing of its own.
class Measurer {
 public:
  Measurer(PlacementContext& context, Wishes& wishes, Trust& trust)
      : context_(context), wishes_(wishes), trust_(trust) {}

  // Adds a model's stages to a plan's input, measured where any of them may be; whether a card is
  // among those places.
  [[nodiscard]] Result<bool> measure(const ExpectedModel& model, PlanInput& input);

  // Of the devices that a model was measured on, but the processor, the types that were not needed
  // so far.
  void measure_smaller_types(const ExpectedModel& model, PlanInput& input);

  // What stages took that are apart, or how they failed: kept, or proven now where `left` allows,
  // which counts down; none: nothing is known.
  [[nodiscard]] std::optional<StagesApart> measure_apart(const ExpectedModel& model,
                                                         const StagePlaces& places, int& left);

 private:
  // How it went to measure a model on a device as one type: refused, measured or failed.
  Trust::Refusal measure_as(const ExpectedModel& model, const StageDevice& where, PlanInput& input);
  void measure_device(const ExpectedModel& model, const std::string& device, PlanInput& input);
  void measure_said_apart(const ExpectedModel& model, const StagePlaces& places,
                          const std::string& device, PlanInput& input);

  PlacementContext& context_;
  Wishes& wishes_;
  Trust& trust_;
};

}  // namespace mynah::place
