// Whether the models that are to stay on a card fit into its memory.
#pragma once

#include "doctor/rules.h"

namespace mynah::doctor {

// Says of each card whether Facts::wanted fits beside Facts::headroom_mib, and where it does not,
// which plan does: weights of another storage type, or some models on the processor.
void judge_memory(Diagnosis& diagnosis);

}  // namespace mynah::doctor
