// How the doctor's texts look on what they are printed to.
#pragma once

#include <algorithm>

#include "cli/doctor/doctor_options.h"
#include "doctor/reports/report_text.h"

namespace mynah::cli {

// Coloured on a terminal, but not where NO_COLOR is set or the terminal knows none.
[[nodiscard]] inline doctor::TextStyle text_style(const Context& context,
                                                  const DoctorOptions& options) {
  constexpr int kNarrowest = 40;
  constexpr int kWidest = 100;  // longer lines are hard to read
  const bool colours = context.out.is_terminal() && !context.environment.get("NO_COLOR") &&
                       context.environment.get("TERM") != "dumb";
  return {.columns = static_cast<size_t>(std::clamp(context.out.columns(), kNarrowest, kWidest)),
          .colours = colours,
          .all = options.all};
}

}  // namespace mynah::cli
