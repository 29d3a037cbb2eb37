// What will come of recipes: contradictions, pins that drift, images that are not what their wheels
// want, services that nobody gives a card.
#pragma once

#include "doctor/rules.h"

namespace mynah::doctor {

// Only what is pinned and verified is a FAIL: two requirements that no version meets, packages that
// refuse each other, a wheel without code for a card. What comes of ranges, markers and images that
// were not looked into is at most a warning.
void judge_recipes(Diagnosis& diagnosis);

}  // namespace mynah::doctor
