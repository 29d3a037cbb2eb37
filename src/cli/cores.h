// How many threads are worth starting.
#pragma once

namespace mynah::cli {

// Physical cores that this process may run on, and that its control group pays for; at least 1. A
// second thread on a core does not make matrix products faster.
[[nodiscard]] int physical_cores();

}  // namespace mynah::cli
