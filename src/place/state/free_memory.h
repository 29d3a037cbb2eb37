// FreeMemory: what devices have free now; cards are asked again for a plan that comes later.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "place/plans/budget.h"
#include "place/state/placement_context.h"

namespace mynah::place {

// Of one plan at a time.
class FreeMemory {
 public:
  // What this process holds of a card, in bytes: it counts as free, since what is loaded is planned
  // again with the rest, or is kept apart by who plans.
  using HeldHere = std::function<uint64_t(const CardMemory& card)>;

  FreeMemory(PlacementContext& context, HeldHere held_here)
      : context_(context), held_here_(std::move(held_here)) {}

  // Of the processor, and of cards where they count.
  [[nodiscard]] std::vector<DeviceMemory> now(bool cards);

 private:
  [[nodiscard]] const std::vector<DeviceMemory>& of_cards();

  PlacementContext& context_;
  HeldHere held_here_;
  std::optional<std::chrono::steady_clock::time_point> asked_at_;
  std::vector<DeviceMemory> cards_;
};

}  // namespace mynah::place
