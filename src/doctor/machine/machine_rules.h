// Rules about the machine: whether its driver, its containers and its settings let any program
// compute on its cards.
#pragma once

#include "doctor/rules.h"

namespace mynah::doctor {

// Adds findings about facts.machine. A FAIL needs a fact that was gathered (a card's PCI address
// stands for that) or says it itself, and a source that was read; whatever is not told is unknown.
// A machine with another maker's cards, or none, gets one note.
void judge_machine(Diagnosis& diagnosis);

}  // namespace mynah::doctor
