#include "doctor/finding.h"

#include <algorithm>

namespace mynah::doctor {

std::string_view level_name(Level level) {
  switch (level) {
    case Level::Good:
      return "good";
    case Level::Note:
      return "note";
    case Level::Unknown:
      return "unknown";
    case Level::Warning:
      return "warning";
    case Level::Fail:
      break;
  }
  return "fail";
}

std::string_view outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::Works:
      return "works";
    case Outcome::WorksSlowly:
      return "works slowly";
    case Outcome::FailsAtLoad:
      return "fails at load";
    case Outcome::FailsAtFirstKernel:
      return "fails at the first kernel";
    case Outcome::FailsAtLstm:
      return "fails at LSTM";
    case Outcome::Unknown:
      break;
  }
  return "unknown";
}

int badness(Outcome outcome) {
  switch (outcome) {
    case Outcome::Works:
      return 0;
    case Outcome::WorksSlowly:
      return 1;
    case Outcome::Unknown:
      return 2;
    case Outcome::FailsAtLoad:
    case Outcome::FailsAtFirstKernel:
    case Outcome::FailsAtLstm:
      break;
  }
  return 3;
}

std::string_view certainty_name(Certainty certainty) {
  switch (certainty) {
    case Certainty::Certain:
      return "certain";
    case Certainty::Likely:
      return "likely";
    case Certainty::Guess:
      break;
  }
  return "guess";
}

Level Report::worst() const {
  Level level = Level::Good;
  for (const Finding& finding : findings) {
    level = std::max(level, finding.level);
  }
  return level;
}

}  // namespace mynah::doctor
