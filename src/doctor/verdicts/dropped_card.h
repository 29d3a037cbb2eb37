// Cards that newer drivers no longer run.
#pragma once

#include <optional>

#include "doctor/facts.h"
#include "doctor/finding.h"
#include "doctor/knowledge/knowledge.h"

namespace mynah::doctor {

struct DroppedCard {
  const Architecture* architecture = nullptr;  // whose last_driver says so
  int last_branch = 0;                         // that runs such cards: 580
  Certainty certainty = Certainty::Likely;
};

// Says that the machine's driver is newer than the last that runs the card; none: it is not, or
// nothing is known. Branches in between, of which none is known, count as the older one. Likely,
// not certain, where the source was not read; on Windows and WSL2, of which it does not speak; and
// of a card that was seen held by NVIDIA's driver, which would then not ignore it.
[[nodiscard]] std::optional<DroppedCard> dropped_card(const Card& card, const Machine& machine,
                                                      const Knowledge& knowledge);

}  // namespace mynah::doctor
