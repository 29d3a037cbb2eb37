// All rules at once.
#pragma once

#include "doctor/facts.h"
#include "doctor/finding.h"
#include "doctor/knowledge/knowledge.h"

namespace mynah::doctor {

// What becomes of every framework on every card, and all that is wrong: the worst first, what is
// the same of several cards once, with all their names.
[[nodiscard]] Report diagnose(const Facts& facts, const Knowledge& knowledge);

}  // namespace mynah::doctor
