// Packages of one environment that do not stand together.
#pragma once

#include "doctor/rules.h"

namespace mynah::doctor {

// Companions of torch that belong to another release or CUDA version of it, and the clashes that
// the knowledge base lists.
void judge_companions(Diagnosis& diagnosis);

}  // namespace mynah::doctor
