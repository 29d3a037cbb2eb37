#include "doctor/verdicts/arm_machines.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace mynah::doctor {

bool is_beside_arm(const Card& card, const Machine& machine, const Knowledge& knowledge) {
  if (!machine.processor_flags.empty()) {
    return std::ranges::find(machine.processor_flags, kArmFlag) != machine.processor_flags.end();
  }
  constexpr std::array<std::string_view, 8> kNames = {"Jetson", "GH200", "GB200", "GB300",
                                                      "GB10",   "Orin",  "Thor",  "Xavier"};
  constexpr std::array<std::string_view, 2> kCapabilities = {"11.0", "12.1"};  // Thor, GB10
  const Product* const product = knowledge.card(card.name);
  const std::string capability = card.compute_capability.empty() && product != nullptr
                                     ? product->compute_capability
                                     : card.compute_capability;
  const Architecture* const architecture = knowledge.architecture(capability);
  return (architecture != nullptr && architecture->tegra) ||
         std::ranges::find(kCapabilities, capability) != kCapabilities.end() ||
         std::ranges::any_of(kNames, [&](std::string_view name) {
           return card.name.find(name) != std::string::npos ||
                  (product != nullptr && product->name.find(name) != std::string::npos);
         });
}

}  // namespace mynah::doctor
