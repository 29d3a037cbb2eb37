// 8-bit products of CTranslate2, which older ones do not compute on RTX 50 cards.
#pragma once

#include <optional>

#include "doctor/facts.h"
#include "doctor/finding.h"
#include "doctor/knowledge/knowledge.h"
#include "doctor/verdicts/verdict.h"

namespace mynah::doctor {

// What is to be said of them (error E08, note "ctranslate2 int8 on sm_120"), without its subject.
// None: they are computed, or the framework computes nothing on this card. `judged` is what it
// comes to there.
[[nodiscard]] std::optional<Finding> int8_finding(const Framework& framework,
                                                  const PythonEnvironment& environment,
                                                  const Card& card, const Judged& judged,
                                                  const Machine& machine,
                                                  const Knowledge& knowledge);

}  // namespace mynah::doctor
