// Other mynahs among the devices that `mynah devices` shows: those that are named with their
// addresses.
#pragma once

#include <string>
#include <vector>

#include "cli/command/verb.h"
#include "cli/placement/devices.h"

namespace mynah::cli {

// Takes the words that name other mynahs out of `names` and returns each as a device, what it says
// of itself and, where `prove`, proofs made now of the models that are here. Usage for a word that
// names none.
[[nodiscard]] Result<std::vector<DeviceView>> take_mynahs(const Context& context,
                                                          std::vector<std::string>& names,
                                                          bool prove);

}  // namespace mynah::cli
