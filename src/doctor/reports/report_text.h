// Reports for people at a terminal.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "doctor/errors/explain.h"
#include "doctor/reports/report_words.h"

namespace mynah::doctor {

struct TextStyle {
  size_t columns = 80;  // of the terminal; commands are not broken
  bool colours = false;
  bool all = false;  // what is good and mere notes, too
};

// The verdicts as a table, then the findings in their order: what, why, what was seen, what mends
// it and what that costs. Ends with a line end; control characters of facts are not printed.
[[nodiscard]] std::string report_text(const ReportFrame& frame, const TextStyle& style);

// What a log complains of, why, and what mends it; a guess is called one. What does no harm,
// or is only mentioned, is left out beside what does, unless all is wanted.
[[nodiscard]] std::string explanation_text(std::span<const Explanation> explanations,
                                           const TextStyle& style);

}  // namespace mynah::doctor
