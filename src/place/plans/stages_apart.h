// Stages apart: those of one model on several devices, which are taken where that was proven as
// such.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"
#include "place/plans/plan.h"
#include "place/plans/plan_choices.h"
#include "place/terms/workload.h"

namespace mynah::place {

// Adds to what can be chosen the ways to be apart that were proven. They are to gain a twentieth of
// what the model takes where it is fastest on one device.
void add_stages_apart(const PlanInput& input, const Budget& budget,
                      std::vector<StageOptions>& options);

// Where these stages are.
[[nodiscard]] StagePlaces places_of(const StagesApart& stages);

// Of a plan the stages of one group.
[[nodiscard]] StagePlaces places_of(const Plan& plan, StageGroup group);

// What a stage of a plan took where its model's are apart as the input has them; null: they are
// not.
[[nodiscard]] const Measurement* measured_apart(const PlanInput& input, const Plan& plan,
                                                Stage stage);

// The ways to have an automatic group's stages apart, one of them on the processor, that were not
// tried yet, by what each took where it was measured with the others. Of a device that had no room
// for all of them nothing is known: what is computed there may take no time.
[[nodiscard]] std::vector<StagesApart> imagine_apart(const PlanInput& input);

// Proves stages apart: what they took, or why they failed; none: nobody tried.
using ApartProof = std::function<std::optional<StagesApart>(const StagesApart& imagined)>;

// As make_plan(), where being apart could be better than all that is proven once that was tried;
// what came of it is added to the input. Each way is tried once at most.
[[nodiscard]] Result<Plan> make_plan(PlanInput& input, const ApartProof& prove);

}  // namespace mynah::place
