// Planner: where each group goes, of what is wanted, trusted, measured and free, and why.
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

  // Where a group goes now: of what the request allows, the best that is proven and did not fail.
  // Device where nothing is left, with the reasons; OutOfMemory where a device had no room.
  Result<StagePlaces> plan(StageGroup group);

  // How many windows a group may hear together where it was planned to be.
  [[nodiscard]] size_t windows_together(StageGroup group) const;

  // The last plan's word on a stage; none where it was not planned.
  [[nodiscard]] std::optional<StageChoice> choice(Stage stage) const;

  // The same of all stages of a group that were planned.
  [[nodiscard]] ChosenStages choices(StageGroup group) const;

  // What was measured of steps where the group is planned to be now.
  [[nodiscard]] StepPace step_pace(StageGroup group) const;

  // "cuda:0 was preferred, but it is not here", of the devices that were named before the one that
  // was taken; "": it is where it was wanted most.
  [[nodiscard]] std::string why_not_preferred(const StagePlaces& places) const;

  // What is free now: of the processor, and of cards where they count.
  [[nodiscard]] std::vector<DeviceMemory> memory(bool cards);

 private:
  // What is open stays where it is while another group is planned. False: the group is not open.
  [[nodiscard]] bool stays(StageGroup group, PlanInput& input) const;
  // make_plan(), with stages apart where that is better and proven; what is not proven yet is now,
  // twice at most.
  [[nodiscard]] Result<Plan> plan_apart(const std::vector<ModelFile>& files, PlanInput& input);
  // How much of a card our own workers hold, as its driver counts; else as was planned.
  [[nodiscard]] uint64_t held_here(const CardMemory& card) const;
  // Keeps what a plan says of a group; returns where that is.
  [[nodiscard]] StagePlaces keep(StageGroup group, const Plan& plan, const PlanInput& input);

  PlacementContext& context_;
  Wishes& wishes_;
  Trust& trust_;
  const Openings& openings_;
  Measurer measurer_;
  std::mutex turn_;    // of who plans
  FreeMemory memory_;  // turn_ is held for it
  mutable std::mutex mutex_;
  std::map<Stage, StageChoice> choices_;
  std::map<StageGroup, size_t> windows_together_;
};

}  // namespace mynah::place
