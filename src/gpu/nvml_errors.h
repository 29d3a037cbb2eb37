// What the numbers mean that NVML answers.
#pragma once

#include <string_view>

#include "gpu/absence.h"
#include "gpu/nvml_api.h"

namespace mynah::gpu {

// Never fails: a number that is not in the table is said as it is. `attempted` says what was being
// done: "asking NVML: the library and the driver in the kernel are of different releases (NVML
// error 18)".
[[nodiscard]] Absence explain_nvml(NvmlResult result, std::string_view attempted);

// Whether the card itself is what failed, so that nothing can use it: not the question, the rights
// of this user or the library.
[[nodiscard]] bool is_failure_of_card(NvmlResult result);

}  // namespace mynah::gpu
