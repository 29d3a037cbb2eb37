// Every framework of every environment on every card.
#pragma once

#include "doctor/rules.h"

namespace mynah::doctor {

// Adds a verdict for each, what is wrong, and what mends it.
void judge_frameworks(Diagnosis& diagnosis);

}  // namespace mynah::doctor
