// Libraries that an environment misses, and that a file which is to be installed there does not
// bring.
#pragma once

#include <string>
#include <vector>

#include "doctor/facts.h"
#include "doctor/finding.h"
#include "doctor/knowledge/knowledge.h"
#include "doctor/plans/compare_steps.h"

namespace mynah::doctor {

// A library that the loader did not find for a framework of the first side, that the same framework
// of the second wants, too, and that nothing the second names is known to bring.
struct StillMissing {
  std::string framework;  // "ctranslate2"
  std::string library;    // "libcublas.so.12"
};

// Of frameworks whose files were read in the first and are known by a recipe alone in the second.
[[nodiscard]] std::vector<StillMissing> still_missing(const Facts& first, const Facts& second,
                                                      const PinnedSide& wanted,
                                                      const Knowledge& knowledge);

// Makes verdicts of frameworks unknown that would work but for such a library: whether it comes
// from elsewhere nobody knows.
void doubt_what_misses(std::vector<FrameworkVerdict>& verdicts,
                       const std::vector<StillMissing>& missing);

// Whether a finding is of such a framework and names such a library.
[[nodiscard]] bool is_about(const Finding& finding, const std::vector<StillMissing>& missing);

}  // namespace mynah::doctor
