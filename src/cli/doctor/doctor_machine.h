// Which machine the doctor is asked about: this one, that of a file of facts, or one of which cards
// and driver are told.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/command/verb.h"
#include "cli/doctor/doctor_options.h"
#include "doctor/facts.h"
#include "doctor/knowledge/knowledge.h"

namespace mynah::cli {

// What --as, --gpu and --driver say.
struct MeantMachine {
  // Of --as: all of them. Else the machine alone; a card of a product that is told by its name has
  // no compute capability yet (name_capabilities).
  doctor::Facts facts;
  bool elsewhere = false;  // the machine is that of `facts`; else it is this one
  std::string about;       // "Another machine, as FILE tells of it"; empty: this one as it is
};

// Usage where the options contradict each other, or a card or a driver is none.
[[nodiscard]] Result<MeantMachine> meant_machine(Context& context, const DoctorOptions& options,
                                                 const doctor::Knowledge& knowledge);

// A driver in place of the one that is there, and nothing of that one's files.
void replace_driver(doctor::Machine& machine, const std::string& driver);

// The machine alone; this one is looked at.
[[nodiscard]] Result<doctor::Machine> machine_meant(Context& context, const DoctorOptions& options,
                                                    const doctor::Knowledge& knowledge);

}  // namespace mynah::cli
