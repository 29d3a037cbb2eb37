#include "doctor/verdicts/dropped_card.h"

#include "doctor/verdicts/coverage.h"

namespace mynah::doctor {

std::optional<DroppedCard> dropped_card(const Card& card, const Machine& machine,
                                        const Knowledge& knowledge) {
  const Target target = target_of(card, machine, knowledge);
  const Architecture* const architecture =
      knowledge.architecture(capability_text(target.capability));
  const DriverBranch* const branch = knowledge.branch(machine.driver);
  if (architecture == nullptr || !architecture->last_driver || branch == nullptr) {
    return std::nullopt;
  }
  const int last = cuda_number(architecture->last_driver->value + ".0") / 100;
  if (last == 0 || branch->branch <= last) {
    return std::nullopt;
  }
  const bool held = !card.pci.empty() && card.kernel_driver == "nvidia";
  const bool certain = target.sure && architecture->last_driver->verified && !held &&
                       machine.system == System::Linux && !machine.wsl;
  return DroppedCard{.architecture = architecture,
                     .last_branch = last,
                     .certainty = certain ? Certainty::Certain : Certainty::Likely};
}

}  // namespace mynah::doctor
