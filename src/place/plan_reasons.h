// Why a stage is where it is, and why not elsewhere, in words.
#pragma once

#include <vector>

#include "place/budget.h"
#include "place/plan.h"
#include "place/plan_choices.h"
#include "place/plan_ladder.h"

namespace mynah::place {

[[nodiscard]] std::vector<StagePlan> explain(const std::vector<StageOptions>& options,
                                             const Budget& budget, const Outcome& outcome);

}  // namespace mynah::place
