// What the doctor's rules share: they read facts and the knowledge base, and write findings and
// verdicts. Each group of rules has a header of its own, and diagnose.h asks them all.
#pragma once

#include "doctor/facts.h"
#include "doctor/finding.h"
#include "doctor/knowledge/knowledge.h"

namespace mynah::doctor {

// One look at one set of facts. Rules add to `report`, in any order; none reads what another wrote.
struct Diagnosis {
  const Facts& facts;
  const Knowledge& knowledge;
  Report report;
};

}  // namespace mynah::doctor
