// Tune: a model is measured on every device, with the storage types that are worth it, and the
// fastest placement kept as a profile.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "place/plans/profile.h"
#include "place/state/placement_state.h"

namespace mynah::place {

struct TuneOptions {
  // Storage types to try; empty: int8 and bf16 on the processor, f16 and int8 on a card.
  std::vector<DType> types;
  // Hears of each measurement as it comes; may be empty.
  std::function<void(const DeviceProof& proof)> observer;
};

// "; others had the cores for 34 % of the time", of a measurement whose times say little for that;
// "": they had not for more than a tenth.
[[nodiscard]] std::string disturbed_text(double waited_share);

// What was measured, that which the plan chose as the profile's stages: of stages apart as they
// were measured so.
void keep_measurements(Profile& profile, const PlanInput& input, const Plan& plan);

// Measures where the state's request allows, with a model's stages apart too where by their times
// that could be fastest, and plans by it. `name` is the model's and the
// profile's. Device where no device passes.
Result<Profile> tune(PlacementState& state, const ModelFile& file, const std::string& name,
                     const TuneOptions& options);

}  // namespace mynah::place
