// Everything that the doctor's rules say of facts.
#pragma once

#include "doctor/facts.h"
#include "doctor/finding.h"
#include "doctor/knowledge.h"

namespace mynah::doctor {

// A verdict for each framework on each card, and findings, the worst first.
[[nodiscard]] Report diagnose(const Facts& facts, const Knowledge& knowledge);

}  // namespace mynah::doctor
