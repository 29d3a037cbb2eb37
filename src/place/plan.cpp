#include "place/plan.h"

#include <utility>

#include "place/plan_choices.h"
#include "place/plan_ladder.h"
#include "place/plan_reasons.h"

namespace mynah::place {

Result<Plan> make_plan(const PlanInput& input) {
  const Budget budget(input.devices, input.max_vram);
  MYNAH_TRY(const std::vector<StageOptions> options, gather_options(input, budget));
  MYNAH_TRY(Outcome outcome, descend_ladder(options, budget, input.batch));
  return Plan{.stages = explain(options, budget, outcome),
              .batch = outcome.batch,
              .rungs = std::move(outcome.rungs)};
}

bool wants_smaller_types(const PlanInput& input) {
  const Budget budget(input.devices, input.max_vram);
  const Result<std::vector<StageOptions>> options = gather_options(input, budget);
  return options && !fastest_fits(*options, budget);
}

}  // namespace mynah::place
