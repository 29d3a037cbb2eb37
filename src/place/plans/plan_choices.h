// What a plan chooses from: of each stage the devices that it may be on, and why not the others.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "place/plans/assignment.h"
#include "place/plans/budget.h"
#include "place/plans/plan.h"

namespace mynah::place {

struct StageOptions {
  StageChoices choices;
  std::optional<DType> storage;          // the user's
  std::string profile;                   // that says where
  bool automatic = true;                 // not named
  bool whole = false;                    // StageWish::whole
  std::optional<GrowingMemory> growing;  // StageWish::growing
  std::vector<std::string> allowed;      // devices that the request allows, preferred ones first
  std::vector<OtherDevice> ruled_out;    // those of them that cannot be used
  std::vector<TooLarge> too_large;       // of this stage
  int64_t wanted_units = 0;              // of what grows; 0: nothing does
  std::vector<OtherDevice> not_apart;    // where it failed with its model's stages apart, and why
};

// By the order of Stage, each once. Device where a stage has nothing to choose from.
[[nodiscard]] Result<std::vector<StageOptions>> gather_options(const PlanInput& input,
                                                               const Budget& budget);

// Adds a candidate with each of the sizes that there may be room for of what grows.
void add_candidates(const Candidate& candidate, const std::optional<GrowingMemory>& growing,
                    std::vector<Candidate>& all);

// Whether a stage had no room on a device as a larger type than it was measured with there.
[[nodiscard]] bool is_smaller_type(const StageOptions& options, std::string_view device);

// "i8", or "" where the file's own type is meant.
[[nodiscard]] std::string_view storage_text(std::optional<DType> storage);

}  // namespace mynah::place
