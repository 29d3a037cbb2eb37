// What mends a framework that does not compute on a card.
#pragma once

#include <vector>

#include "doctor/facts.h"
#include "doctor/finding.h"
#include "doctor/knowledge/knowledge.h"
#include "doctor/verdicts/verdict.h"

namespace mynah::doctor {

// Remedies for what decided `judged`, the best first: one command each, and what it changes for the
// environment's other packages. Each was judged by verdict.h as if it were done already: what would
// not compute on this card with this driver is not among them.
[[nodiscard]] std::vector<Remedy> remedies_for(const Framework& framework, const Judged& judged,
                                               const Card& card, const Machine& machine,
                                               const PythonEnvironment& environment,
                                               const Knowledge& knowledge);

}  // namespace mynah::doctor
