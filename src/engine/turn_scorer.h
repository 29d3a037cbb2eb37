// What tells the ends of turns, as every front opens it.
#pragma once

#include <memory>

#include "base/result.h"
#include "engine/surroundings.h"
#include "place/workers/open_device.h"
#include "speech/turn_scorer.h"

namespace mynah::engine {

// A scorer and what it stands on, in the order that they must be destroyed from the end.
struct OpenedTurnScorer {
  place::OpenedDevice processor;
  std::shared_ptr<const TurnScorer> scorer;  // null: none is here, silence alone ends turns
};

// The store's newest model that tells ends of turns, on the processor: a score is some ten
// milliseconds of a core within a pause that lasts a tenth of a second at least, so that a card
// would save nothing that anybody hears, and would be one more thing that a turn waits for. That
// none is here is noted, with what brings it.
Result<OpenedTurnScorer> open_turn_scorer(const Surroundings& surroundings);

}  // namespace mynah::engine
