#include "place/plans/plan.h"

#include "place/plans/plan_choices.h"
#include "place/plans/plan_ladder.h"
#include "place/plans/plan_reasons.h"

namespace mynah::place {

Result<Plan> make_plan(const PlanInput& input) {
  const Budget budget(input.devices, input.max_vram);
  MYNAH_TRY(const std::vector<StageOptions> options, gather_options(input, budget));
  MYNAH_TRY(const Outcome outcome, descend_ladder(options, budget, input.batch));
  return Plan{.stages = explain(options, budget, outcome), .batch = outcome.batch};
}

bool wants_smaller_types(const PlanInput& input) {
  const Budget budget(input.devices, input.max_vram);
  const Result<std::vector<StageOptions>> options = gather_options(input, budget);
  return options && !fastest_fits(*options, budget);
}

}  // namespace mynah::place
