// The other end of a WorkerLane.
#pragma once

namespace mynah::place {

// Serves what is asked over the descriptors of worker_protocol.h, until the asker has gone. Returns
// the process's exit code; 2 where the descriptors are not there.
[[nodiscard]] int run_worker();

}  // namespace mynah::place
