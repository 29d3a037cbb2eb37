// ModelId: which model of a kind, of those that one process places.
#pragma once

#include <compare>
#include <cstdint>

#include "place/terms/stage.h"

namespace mynah::place {

// Models of a kind are counted from 0 in the order in which they were expected
// (PlacementContext::expect()). Means nothing outside its process: what crosses the wire, or is
// kept in files, goes by the kind.
struct ModelId {
  StageGroup group{};
  uint32_t number = 0;

  auto operator<=>(const ModelId&) const = default;
};

// A stage of one of several models of its kind.
struct ModelStage {
  ModelId model;
  Stage stage;

  auto operator<=>(const ModelStage&) const = default;
};

}  // namespace mynah::place
