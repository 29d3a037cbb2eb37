// What is told of a placement.
#pragma once

#include <string>
#include <vector>

#include "place/state/placement_state.h"
#include "speech/placement_report.h"

namespace mynah::place {

[[nodiscard]] PlacementReport make_report(PlacementState& state);

// "tts.vocoder on cuda:0 (sm_89, f16, proven 0.4 s ago): 11x cpu", a line for each stage; equal
// stages of one group share one. The last says how long proofs took that were made now.
[[nodiscard]] std::vector<std::string> explain_report(const PlacementReport& report);

}  // namespace mynah::place
