// Why a stage is where it is, and why not elsewhere, in words.
#pragma once

#include <vector>

#include "place/plans/budget.h"
#include "place/plans/plan.h"
#include "place/plans/plan_choices.h"
#include "place/plans/plan_ladder.h"

namespace mynah::place {

[[nodiscard]] std::vector<StagePlan> explain(const std::vector<StageOptions>& options,
                                             const Budget& budget, const Outcome& outcome);

}  // namespace mynah::place
