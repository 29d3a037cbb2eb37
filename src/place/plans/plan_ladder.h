// The ladder: what gives way, and in which order, where memory does not suffice for the fastest.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "place/plans/assignment.h"
#include "place/plans/budget.h"
#include "place/plans/plan_choices.h"

namespace mynah::place {

struct Outcome {
  Assignment ideal;  // where memory does not matter
  Assignment taken;
  int wanted_batch = 1;
  int batch = 1;
};

// The ideal where it fits with `batch` windows; else with half as many, and so on down to one; else
// with smaller storage types on the same devices, where no group of automatic stages becomes slower
// by it than the processor is; else the cheapest of all that fit. With the last two the batch is
// again as large as fits. Device, with what is missing, where nothing fits.
[[nodiscard]] Result<Outcome> descend_ladder(const std::vector<StageOptions>& options,
                                             const Budget& budget, int batch);

// Whether the ideal, or what costs as much, fits with one window at a time.
[[nodiscard]] bool fastest_fits(const std::vector<StageOptions>& options, const Budget& budget);

// "has 310.0 MB to spare", or that --max-vram allows no more, to be read behind the device's name.
[[nodiscard]] std::string spare_text(const Budget& budget, size_t device, uint64_t bytes);

}  // namespace mynah::place
