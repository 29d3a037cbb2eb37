// Assignment: each stage on one of the devices that it can be computed on, the best of all that fit
// a budget.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "place/plans/budget.h"
#include "place/terms/stage.h"
#include "tensor/dtype.h"

namespace mynah::place {

// What an assignment costs; what stands first weighs more than all that follows.
struct Cost {
  int rank = 0;        // how far down the lists of preference
  int unmeasured = 0;  // stages of unknown speed
  double ms = 0;       // milliseconds for a second of sound
  int shrunk = 0;      // how far down the lists of what there is to be room for

  auto operator<=>(const Cost&) const = default;
};

[[nodiscard]] Cost operator+(const Cost& a, const Cost& b);

// One stage on one device with one storage type.
struct Candidate {
  size_t device = 0;             // of the budget
  std::optional<DType> storage;  // none: the file's own
  Cost cost;
  uint64_t bytes = 0;         // resident
  uint64_t window_bytes = 0;  // what each window of a batch needs beyond the first
  // Which of the ways to have a group's stages apart it is part of, from 1; 0: of none.
  size_t apart = 0;
  int64_t units = 0;         // of what grows (GrowingMemory), that there is room for
  uint64_t grown_bytes = 0;  // of `bytes`, what they take
};

// What can be chosen, stage by stage.
struct StageChoices {
  Stage stage;
  std::vector<Candidate> candidates;  // the cheapest first
  // Milliseconds for a second of sound that it must gain to be on another device than the stage
  // before it, of the same group.
  double gain_ms = 0;
  // It must be on the device of the stage before it, or part of the same way to be apart, with room
  // for as much where both grow.
  bool with_last = false;
};

struct Assignment {
  std::vector<Candidate> chosen;  // by stage
  Cost cost;
};

// Puts the cheapest candidates first, in an order that depends on nothing but them, and leaves out
// those that are neither cheaper nor smaller than another on the same device, of the same way to be
// apart.
void sort_candidates(std::vector<Candidate>& candidates);

// The cheapest assignment of those that fit with `batch` windows in flight; none: nothing fits. All
// are looked at that could be cheaper than what was found (branch and bound: A. H. Land and A. G.
// Doig, Econometrica 28, 1960). Of equal ones it is the first in the order of candidates.
[[nodiscard]] std::optional<Assignment> cheapest(const std::vector<StageChoices>& stages,
                                                 Budget budget, int batch);

// The same where memory does not matter.
[[nodiscard]] std::optional<Assignment> cheapest(const std::vector<StageChoices>& stages);

// Whether an assignment fits with `batch` windows in flight.
[[nodiscard]] bool fits(const Assignment& assignment, Budget budget, int batch);

}  // namespace mynah::place
