// Models that compute in a worker process, behind the interfaces of those that do not. A worker
// that fails is a DeviceError.
#pragma once

#include <functional>
#include <memory>

#include "place/workers/worker_process.h"

namespace mynah::place {

// Computes the probe of the group's model that a worker has open. It is no call of the stage: no
// fault on purpose counts it.
[[nodiscard]] std::function<Result<Probe>()> remote_probe(std::shared_ptr<WorkerProcess> worker,
                                                          StageGroup group, const StepPace& pace);

Result<std::shared_ptr<const VoiceDetector>> open_remote_detector(
    std::shared_ptr<WorkerProcess> worker, const DetectorFile& file, const StageDevice& where,
    StepPace pace);

Result<std::shared_ptr<const WindowModel>> open_remote_windows(
    std::shared_ptr<WorkerProcess> worker, const WindowsFile& file,
    std::shared_ptr<const HearingHeader> header, const StageDevice& encoder,
    const StageDevice& decoder, StepPace pace);

Result<std::shared_ptr<const VoiceModel>> open_remote_voice(std::shared_ptr<WorkerProcess> worker,
                                                            const VoiceModelFile& file,
                                                            const StageDevice& acoustic,
                                                            const StageDevice& vocoder,
                                                            StepPace pace);

}  // namespace mynah::place
