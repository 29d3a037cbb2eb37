// Rules about CUDA toolkits: whether what is compiled with them gets through, and runs on this
// machine's cards.
#pragma once

#include "doctor/rules.h"

namespace mynah::doctor {

// Adds findings about facts.toolkits. A toolkit that nothing chooses (PATH, CUDA_HOME), among
// several, is at most warned of.
void judge_toolkits(Diagnosis& diagnosis);

}  // namespace mynah::doctor
