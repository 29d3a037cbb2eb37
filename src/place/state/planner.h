// Planner: where each model goes, of what is wanted, trusted, measured and free, and why.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "place/plans/plan.h"
#include "place/state/free_memory.h"
#include "place/state/measurer.h"
#include "place/state/openings.h"
#include "place/state/placement_context.h"
#include "place/state/trust.h"
#include "place/state/wishes.h"
#include "place/workers/stage_watch.h"

namespace mynah::place {

// Thread-safe. There is one plan at a time, with the proofs that it needs: who waits for another's
// waits that long, and may hold his own model's lock (Rungs) only. What was planned has a lock of
// its own, held for moments.
class Planner {
 public:
  Planner(PlacementContext& context, Wishes& wishes, Trust& trust, const Openings& openings);

  // Where a model goes now: of what the request allows, the best that is proven and did not fail.
  // It is planned with the newest model of every other kind; others keep the memory that they have
  // where they are open. Device where nothing is left, with the reasons; OutOfMemory where a device
  // had no room.
  Result<StagePlaces> plan(ModelId model);

  // How many windows a model may hear together where it was planned to be.
  [[nodiscard]] size_t windows_together(ModelId model) const;

  // The last plan's word on a stage; none where it was not planned.
  [[nodiscard]] std::optional<StageChoice> choice(ModelId model, Stage stage) const;

  // The same of all stages of a model that were planned.
  [[nodiscard]] ChosenStages choices(ModelId model) const;

  // What was measured of steps where the model is planned to be now.
  [[nodiscard]] StepPace step_pace(ModelId model) const;

  // "cuda:0 was preferred, but it is not here", of the devices that were named before the one that
  // was taken; "": it is where it was wanted most.
  [[nodiscard]] std::string why_not_preferred(ModelId model, const StagePlaces& places) const;

  // What is free now: of the processor, and of cards where they count; what open models have of
  // those is kept.
  [[nodiscard]] std::vector<DeviceMemory> memory(bool cards);

 private:
  // Of the models that are expected those that are planned when one is: it, and of every other kind
  // the newest.
  [[nodiscard]] std::vector<ExpectedModel> planned_with(ModelId model) const;
  // " for a second of sound, cpu 2.1 ms", of where a stage is; "": nobody measured it.
  [[nodiscard]] std::string pace_text(ModelId model, const StageChoice& chosen) const;
  // What is open stays where it is while another model is planned. False: it is not open.
  [[nodiscard]] bool stays(ModelId model, PlanInput& input) const;
  // make_plan(), with stages apart where that is better and proven; what is not proven yet is now,
  // twice at most.
  [[nodiscard]] Result<Plan> plan_apart(const std::vector<ExpectedModel>& models, PlanInput& input);
  // How much of a card our own workers hold, as its driver counts; else as was planned.
  [[nodiscard]] uint64_t held_here(const CardMemory& card) const;
  // What open models take of a device by their plans, `left_out` not counted.
  [[nodiscard]] uint64_t planned_on(const std::string& device,
                                    const std::vector<ExpectedModel>& left_out) const;
  // Keeps what a plan says of a model; returns where that is.
  [[nodiscard]] StagePlaces keep(ModelId model, const Plan& plan, const PlanInput& input);

  PlacementContext& context_;
  Wishes& wishes_;
  Trust& trust_;
  const Openings& openings_;
  Measurer measurer_;
  std::mutex turn_;    // of who plans
  FreeMemory memory_;  // turn_ is held for it
  mutable std::mutex mutex_;
  std::map<ModelStage, StageChoice> choices_;
  std::map<ModelId, size_t> windows_together_;
};

}  // namespace mynah::place
