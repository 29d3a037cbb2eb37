// The probe of a model that computes in a worker process. A worker that fails is a DeviceError.
#pragma once

#include <functional>
#include <memory>

#include "place/workers/worker_lane.h"

namespace mynah::place {

// Computes the probe of the group's model that a worker has open. It is no call of the stage: no
// fault on purpose counts it.
[[nodiscard]] std::function<Result<Probe>()> remote_probe(std::shared_ptr<WorkerLane> worker,
                                                          StageGroup group, const StepPace& pace);

}  // namespace mynah::place
